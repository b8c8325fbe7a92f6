//! Repairs histories.

use super::Cohere;
use crate::apis::chat_messages::is_call;
use crate::call::id;
use crate::call::pairing::{CallKey, Entry, NO_OUTPUT};
use crate::codec::RepairCodec;
use crate::facts::result_rule::ResultRule;
use crate::json::fields::{list, text};
use serde_json::{Value, json};

/// Each result directly follows its call.
pub(super) const RESULTS: ResultRule = ResultRule { in_call_order: true, ..ResultRule::PLAIN };

impl RepairCodec for Cohere {
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let by_id = |value| CallKey::of_id(id(value));
        match text(message, "role") {
            "tool" => vec![(0, Entry::Result(by_id(message.get("tool_call_id")), message))],
            "assistant" => {
                let calls = list(message, "tool_calls").iter().filter(|json| is_call(json));
                calls.map(|json| (0, Entry::Call(by_id(json.get("id")), json))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn placeholder(&self, _call: &Value, key: &CallKey<'_>) -> Value {
        json!({"role": "tool", "tool_call_id": key.id, "content": NO_OUTPUT})
    }
}
