//! Repairs histories. The service requires that the message after a message with calls answers all these
//! calls, in their order.

use super::Gemini;
use super::call::read as read_call;
use super::spelling::get;
use crate::codec::RepairCodec;
use crate::fields::{Fields, list, set, text};
use crate::pairing::{Entry, Key, NO_OUTPUT, Pair};
use crate::repair::{Replies, repair, results, without_results};
use serde_json::{Value, json};

/// A result in a part: `{functionResponse: {id?, name, response, parts?}}`.
#[derive(Clone, Copy)]
pub(crate) struct WireResult<'a>(pub(crate) &'a Fields);

impl<'a> WireResult<'a> {
    /// Returns the result in `part`, or `None` for other parts.
    pub(crate) fn of(part: &'a Value) -> Option<Self> {
        get(part.as_object()?, "functionResponse")?.as_object().map(Self)
    }

    /// Returns the key that identifies the call of this result.
    pub(crate) fn key(self) -> Key<'a> {
        let id = get(self.0, "id").and_then(Value::as_str).filter(|id| !id.is_empty());
        Key { id: id.map(Into::into), name: Some(self.name()) }
    }

    pub(crate) fn name(self) -> &'a str {
        get(self.0, "name").and_then(Value::as_str).unwrap_or_default()
    }
}

impl RepairCodec for Gemini {
    /// Moves results into the message after their calls, adds missing results, and removes results without a
    /// call. Results are also removed from messages of the model that contain no calls.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        let is_call = |part: &Value| read_call(part, false).is_some();
        let stripped = history.into_iter().filter_map(|content| {
            if Self::is_reply(&content) || list(&content, "parts").iter().any(is_call) {
                Some(content)
            } else {
                without_results::<Self>(content).0
            }
        });
        repair::<Self>(stripped.collect())
    }

    /// Repairs the messages from the first call on. Earlier messages stay unchanged, because their results
    /// answer calls in the cached content.
    fn repair_continuation(&self, mut history: Vec<Value>) -> Vec<Value> {
        let has_calls =
            |content: &Value| Self::entries(content).iter().any(|it| matches!(it, Entry::Call(..)));
        let first = history.iter().position(has_calls).unwrap_or(history.len());
        let rest = history.split_off(first);
        history.extend(self.repair_history(rest));
        history
    }
}

impl Replies for Gemini {
    const PARTS: &'static str = "parts";

    fn is_reply(content: &Value) -> bool {
        text(content, "role") != "model"
    }

    fn entries(content: &Value) -> Vec<Entry<'_>> {
        let is_reply = Self::is_reply(content);
        let entries = list(content, "parts").iter().filter_map(|part| {
            if is_reply {
                Some(Entry::Result(WireResult::of(part)?.key(), part))
            } else {
                let call = read_call(part, false)?;
                Some(Entry::Call(Key { id: call.id, name: Some(call.name) }, part))
            }
        });
        entries.collect()
    }

    fn is_result(part: &Value) -> bool {
        WireResult::of(part).is_some()
    }

    fn no_output(call: &Pair<'_>) -> Value {
        let mut result = Fields::new();
        if let Some(id) = &call.key.id {
            set(&mut result, "id", id.as_ref());
        }
        set(&mut result, "name", call.key.name);
        set(&mut result, "response", json!({"output": NO_OUTPUT}));
        json!({"functionResponse": result})
    }

    fn is_answered(wanted: &[Value], replies: &[Value]) -> bool {
        match replies.split_first() {
            None => wanted.is_empty(),
            Some((first, later)) => {
                results::<Self>(first).eq(wanted)
                    && later.iter().all(|content| results::<Self>(content).next().is_none())
            }
        }
    }

    /// Takes the parts other than results out of a message and returns them. Returns `None` if the message had no
    /// results before the repair (`held_results`).
    fn parts_beside(content: &mut Value, held_results: bool) -> Option<Vec<Value>> {
        let parts = content.get_mut("parts").filter(|_| held_results)?;
        Some(parts.as_array_mut().map(std::mem::take).unwrap_or_default())
    }
}
