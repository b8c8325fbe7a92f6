//! Repairs histories so that each result directly follows its call.

use super::Ollama;
use super::write::message;
use crate::apis::chat_messages::read_call;
use crate::call::id;
use crate::codec::RepairCodec;
use crate::fields::{list, text};
use crate::pairing::{Entry, Key, NO_OUTPUT, Pair};
use crate::repair::directly_after;
use serde_json::Value;

impl RepairCodec for Ollama {
    /// Moves results directly after their calls, adds missing results, and removes results without a call.
    /// The results are put into the order of the calls, because only their order distinguishes results
    /// without an id.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        let results = |pairs: Vec<Pair<'_>>| pairs.iter().map(result).collect();
        directly_after(history, entries, |message| text(message, "role") == "tool", results)
    }
}

fn result(pair: &Pair<'_>) -> Value {
    match pair.result {
        Some((_, result)) => result.clone(),
        None => message(pair.key.name.unwrap_or_default(), pair.key.id.as_deref(), NO_OUTPUT),
    }
}

fn entries(message: &Value) -> Vec<Entry<'_>> {
    match text(message, "role") {
        "tool" => {
            // If a result has no name, the server finds its call by position.
            let name = Some(text(message, "tool_name")).filter(|name| !name.is_empty());
            let key = Key { id: id(message.get("tool_call_id")), name };
            vec![Entry::Result(key, message)]
        }
        "assistant" => {
            let calls = list(message, "tool_calls").iter().map(|json| {
                let call = read_call::<Ollama>(json, false);
                Entry::Call(Key { id: call.id, name: Some(call.name) }, json)
            });
            calls.collect()
        }
        _ => Vec::new(),
    }
}
