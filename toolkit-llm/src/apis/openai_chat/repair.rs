//! Repairs histories, so that every call has its result directly after it.

use super::OpenAiChat;
use super::read::legacy;
use crate::call;
use crate::call::pairing::{CallKey, Entry, NO_OUTPUT};
use crate::codec::RepairCodec;
use crate::json::fields::{list, text};
use serde_json::{Value, json};

impl RepairCodec for OpenAiChat {
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let by_id = |id| CallKey::of_id(call::id(id));
        match text(message, "role") {
            "tool" => vec![(0, Entry::Result(by_id(message.get("tool_call_id")), message))],
            "function" => vec![(0, Entry::Result(by_name(message), message))],
            "assistant" => {
                let calls = list(message, "tool_calls").iter();
                let mut entries: Vec<_> =
                    calls.map(|call| (0, Entry::Call(by_id(call.get("id")), call))).collect();
                // Beside `tool_calls`, the older `function_call` only repeats one of the calls.
                if entries.is_empty()
                    && let Some(call) = message.as_object().and_then(legacy)
                {
                    entries.push((0, Entry::Call(by_name(call), call)));
                }
                entries
            }
            _ => Vec::new(),
        }
    }

    fn placeholder(&self, _call: &Value, key: &CallKey<'_>) -> Value {
        match &key.id {
            Some(id) => json!({"role": "tool", "tool_call_id": id, "content": NO_OUTPUT}),
            None => json!({"role": "function", "name": key.name, "content": NO_OUTPUT}),
        }
    }
}

/// Returns the key that pairs call and result by name.
///
/// A message with the older `function_call` has a single call, without an id.
fn by_name(named: &Value) -> CallKey<'_> {
    CallKey { id: None, name: Some(text(named, "name")) }
}
