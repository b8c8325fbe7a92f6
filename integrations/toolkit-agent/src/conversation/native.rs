//! The growth of a message's native form while the message arrives.

use crate::message::NativeMessages;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::mem::take;

/// The field with the parts of a native message. Some APIs use a message for each part instead.
const PARTS: &str = "content";

/// The extent of a native form: the number of its messages, and the number of parts of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Extent {
    messages: usize,
    parts: usize,
}

/// What a native form has beyond an extent: parts of its last message, and further messages.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Added {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Value>,
}

impl Added {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.messages.is_empty()
    }
}

impl NativeMessages {
    pub(super) fn extent(&self) -> Extent {
        Extent {
            messages: self.messages.len(),
            parts: self.messages.last().map_or(0, |last| parts(last).len()),
        }
    }

    /// Replaces the native form with a later one. Returns whether the later form only has more parts or messages.
    pub(super) fn grow(&mut self, mut later: Self) -> bool {
        let (before, now) = (take(&mut self.messages), take(&mut later.messages));
        let is_same = *self == later;
        *self = Self { messages: now, ..later };
        let Some((last, complete)) = before.split_last() else { return is_same };
        let continued = self.messages.get(complete.len()).is_some_and(|message| continues(message, last));
        is_same && continued && self.messages.starts_with(complete)
    }

    /// Returns what the native form has beyond `extent`.
    pub(super) fn since(&self, extent: Extent) -> Added {
        let last = extent.messages.checked_sub(1).and_then(|index| self.messages.get(index));
        let parts = last.and_then(|last| parts(last).get(extent.parts..)).unwrap_or_default().to_vec();
        Added { parts, messages: self.messages.get(extent.messages..).unwrap_or_default().to_vec() }
    }

    pub(super) fn add(&mut self, added: Added) {
        let last = self.messages.last_mut().and_then(|last| last.get_mut(PARTS));
        if let Some(Value::Array(parts)) = last {
            parts.extend(added.parts);
        }
        self.messages.extend(added.messages);
    }
}

fn parts(message: &Value) -> &[Value] {
    message.get(PARTS).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns whether `later` is the same message as `earlier`, perhaps with more parts.
fn continues(later: &Value, earlier: &Value) -> bool {
    let (Some(now), Some(before)) = (later.as_object(), earlier.as_object()) else { return later == earlier };
    let is_kept = |(name, value): (&String, &Value)| match (value, before.get(name)) {
        (Value::Array(parts), Some(Value::Array(earlier))) if name == PARTS => parts.starts_with(earlier),
        (value, earlier) => earlier == Some(value),
    };
    now.len() == before.len() && now.iter().all(is_kept)
}
