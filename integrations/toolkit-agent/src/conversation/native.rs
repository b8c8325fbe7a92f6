//! The growth of a message's native form while the message arrives.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::mem::take;
use toolkit_llm::NativeMessages;

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

/// The native form of a message while the message arrives.
pub(super) trait GrowingNative: Sized {
    /// Returns the extent so far.
    fn extent(&self) -> Extent;
    /// Adds further parts and messages. Returns whether the other fields are unchanged.
    fn extend(&mut self, more: Self) -> bool;
    /// Returns what the native form has beyond `extent`.
    fn since(&self, extent: Extent) -> Added;
    /// Adds what a later form has beyond this one.
    fn add(&mut self, added: Added);
}

impl GrowingNative for NativeMessages {
    fn extent(&self) -> Extent {
        Extent {
            messages: self.messages.len(),
            parts: self.messages.last().map_or(0, |last| parts(last).len()),
        }
    }

    fn extend(&mut self, mut more: Self) -> bool {
        let (mut messages, further) = (take(&mut self.messages), take(&mut more.messages));
        let is_same = *self == more;
        let mut further = further.into_iter();
        // Only the first message may continue an earlier one. The others are as the model has separated them.
        if let (Some(last), Some(first)) = (messages.last_mut(), further.as_slice().first())
            && is_continued(last, first)
        {
            append(last, further.next().and_then(|mut first| first.get_mut(PARTS).map(Value::take)));
        }
        messages.extend(further);
        *self = more;
        self.messages = messages;
        is_same
    }

    fn since(&self, extent: Extent) -> Added {
        let last = extent.messages.checked_sub(1).and_then(|index| self.messages.get(index));
        let parts = last.and_then(|last| parts(last).get(extent.parts..)).unwrap_or_default().to_vec();
        Added { parts, messages: self.messages.get(extent.messages..).unwrap_or_default().to_vec() }
    }

    fn add(&mut self, added: Added) {
        if let Some(last) = self.messages.last_mut() {
            append(last, Some(added.parts.into()));
        }
        self.messages.extend(added.messages);
    }
}

fn parts(message: &Value) -> &[Value] {
    message.get(PARTS).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn append(message: &mut Value, further: Option<Value>) {
    if let (Some(Value::Array(parts)), Some(Value::Array(further))) = (message.get_mut(PARTS), further) {
        parts.extend(further);
    }
}

/// Returns whether `message` continues `last`: both have parts, and their other fields are the same.
fn is_continued(last: &Value, message: &Value) -> bool {
    let has_parts = |message: &Value| message.get(PARTS).is_some_and(Value::is_array);
    let [before, now] = [last, message]
        .map(|message| message.as_object().into_iter().flatten().filter(|(name, _)| *name != PARTS));
    has_parts(last) && has_parts(message) && before.eq(now)
}
