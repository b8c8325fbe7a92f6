//! Repairs histories.

use super::Ollama;
use super::write::message;
use crate::apis::chat_messages::read_call;
use crate::call::id;
use crate::call::pairing::{CallKey, Entry, NO_OUTPUT};
use crate::codec::RepairCodec;
use crate::facts::result_rule::ResultRule;
use crate::json::fields::{list, text};
use serde_json::Value;

/// Results have the order of the calls, which alone distinguishes those without an id.
pub(super) const RESULTS: ResultRule = ResultRule { in_call_order: true, ..ResultRule::PLAIN };

impl RepairCodec for Ollama {
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        match text(message, "role") {
            "tool" => {
                // The server finds the call of a result without a name by position.
                let name = Some(text(message, "tool_name")).filter(|name| !name.is_empty());
                vec![(0, Entry::Result(CallKey { id: id(message.get("tool_call_id")), name }, message))]
            }
            "assistant" => {
                let calls = list(message, "tool_calls");
                let mut entries = Vec::with_capacity(calls.len());
                for json in calls {
                    let call = read_call::<Self>(json, false);
                    let key = CallKey { id: call.id, name: Some(call.name) };
                    entries.push((0, Entry::Call(key, json)));
                }
                entries
            }
            _ => Vec::new(),
        }
    }

    fn placeholder(&self, _call: &Value, key: &CallKey<'_>) -> Value {
        message(key.name.unwrap_or_default(), key.id.as_deref(), NO_OUTPUT)
    }
}
