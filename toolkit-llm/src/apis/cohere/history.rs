//! Repairs histories so that each result directly follows its call.

use super::Cohere;
use crate::apis::chat_messages::is_call;
use crate::call::id;
use crate::codec::RepairCodec;
use crate::fields::{list, text};
use crate::pairing::{Entry, Key, NO_OUTPUT, Pair};
use crate::repair::directly_after;
use serde_json::{Value, json};

impl RepairCodec for Cohere {
    /// Moves results directly after their calls, adds missing results, and removes results without a call.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        let results = |pairs: Vec<Pair<'_>>| pairs.iter().map(result).collect();
        directly_after(history, entries, |message| text(message, "role") == "tool", results)
    }
}

fn result(pair: &Pair<'_>) -> Value {
    match pair.result {
        Some((_, result)) => result.clone(),
        None => {
            let id = pair.key.id.as_deref().unwrap_or_default();
            json!({"role": "tool", "tool_call_id": id, "content": NO_OUTPUT})
        }
    }
}

fn entries(message: &Value) -> Vec<Entry<'_>> {
    let by_id = |value| Key { id: Some(id(value).unwrap_or_default()), name: None };
    match text(message, "role") {
        "tool" => vec![Entry::Result(by_id(message.get("tool_call_id")), message)],
        "assistant" => {
            let calls = list(message, "tool_calls").iter().filter(|json| is_call(json));
            calls.map(|json| Entry::Call(by_id(json.get("id")), json)).collect()
        }
        _ => Vec::new(),
    }
}
