//! Repairs histories, so that every call has a result.

use super::Gemini;
use super::call::read as read_call;
use super::spelling::get;
use crate::codec::RepairCodec;
use crate::fields::{Fields, set, text};
use crate::pairing::{Entry, Key, NO_OUTPUT};
use crate::repair::{CallIds, Replies, ResultPlace, ResultRule, part_entries};
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

/// The message after a message with calls must answer all these calls, in their order.
pub(super) const RESULTS: ResultRule = ResultRule {
    place: ResultPlace::NextMessage(Replies {
        parts: "parts",
        roles: &["user", "function", ""],
        results_first: false,
    }),
    in_call_order: true,
    ids: CallIds::Optional,
};

impl RepairCodec for Gemini {
    /// Lists the calls in a message of the model, and the results in any message.
    fn entries<'a>(&self, content: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let is_of_model = text(content, "role") == "model";
        part_entries(content, "parts", |part| match read_call(part, false).filter(|_| is_of_model) {
            Some(call) => Some(Entry::Call(Key { id: call.id, name: Some(call.name) }, part)),
            None => Some(Entry::Result(WireResult::of(part)?.key(), part)),
        })
    }

    fn placeholder(&self, _call: &Value, key: &Key<'_>) -> Value {
        let mut result = Fields::new();
        if let Some(id) = &key.id {
            set(&mut result, "id", id.as_ref());
        }
        set(&mut result, "name", key.name);
        set(&mut result, "response", json!({"output": NO_OUTPUT}));
        json!({"functionResponse": result})
    }
}
