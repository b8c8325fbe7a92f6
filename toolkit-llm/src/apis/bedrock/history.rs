//! Repairs histories.

use super::media::number_documents;
use super::read::is_call;
use super::{Bedrock, FACTS};
use crate::codec::RepairCodec;
use crate::fields::{list, text};
use crate::pairing::{Entry, Key, NO_OUTPUT, Pair};
use crate::repair::{Replies, distinct_ids, repair};
use serde_json::{Value, json};

impl RepairCodec for Bedrock {
    /// Moves results to the message after their calls, adds missing results, removes results without a call,
    /// and joins adjacent messages of the same role. The service requires alternating roles. Also makes the ids
    /// of calls and the names of documents distinct.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        let mut history = repair::<Self>(history);
        distinct_ids::<Self>(&mut history, FACTS.ids, |block| {
            if is_call(block) {
                block.pointer_mut("/toolUse/toolUseId")
            } else {
                block.pointer_mut("/toolResult/toolUseId")
            }
        });
        let mut joined: Vec<Value> = Vec::with_capacity(history.len());
        for mut message in history {
            let role = text(&message, "role");
            let before = joined.last_mut().filter(|before| !role.is_empty() && text(before, "role") == role);
            match before.map(|before| (before.get_mut("content"), message.get_mut("content"))) {
                Some((Some(Value::Array(blocks)), Some(Value::Array(more)))) => blocks.append(more),
                _ => joined.push(message),
            }
        }
        let contents = joined.iter_mut().filter_map(|message| message.get_mut("content")?.as_array_mut());
        number_documents(contents.flatten());
        joined
    }
}

impl Replies for Bedrock {
    const PARTS: &'static str = "content";

    fn is_reply(message: &Value) -> bool {
        text(message, "role") == "user"
    }

    fn entries(message: &Value) -> Vec<Entry<'_>> {
        let role = text(message, "role");
        let entries = list(message, "content").iter().filter_map(|block| match role {
            "assistant" if is_call(block) => {
                Some(Entry::Call(by_id(block.pointer("/toolUse/toolUseId")?.as_str()?), block))
            }
            "user" if Self::is_result(block) => Some(Entry::Result(by_id(result_id(block)), block)),
            _ => None,
        });
        entries.collect()
    }

    fn is_result(block: &Value) -> bool {
        block.get("toolResult").is_some()
    }

    fn no_output(call: &Pair<'_>) -> Value {
        let id = call.call.pointer("/toolUse/toolUseId");
        json!({"toolResult": {"toolUseId": id, "content": [{"text": NO_OUTPUT}]}})
    }

    /// Returns whether the first reply begins with exactly one result for each call in `wanted`, and there are
    /// no other results.
    fn is_answered(wanted: &[Value], replies: &[Value]) -> bool {
        let mut waiting: Vec<&str> = wanted.iter().map(result_id).collect();
        for (index, reply) in replies.iter().enumerate() {
            for block in list(reply, "content") {
                let at = waiting.iter().position(|id| *id == result_id(block));
                match (Self::is_result(block), at) {
                    (true, Some(at)) if index == 0 => drop(waiting.remove(at)),
                    (false, _) if waiting.is_empty() => {}
                    _ => return false,
                }
            }
        }
        waiting.is_empty()
    }

    fn parts_beside(reply: &mut Value, _held_results: bool) -> Option<Vec<Value>> {
        match reply.get_mut("content").map(Value::take) {
            Some(Value::Array(rest)) => Some(rest),
            _ => Some(Vec::new()),
        }
    }
}

fn result_id(block: &Value) -> &str {
    block.get("toolResult").map_or("", |result| text(result, "toolUseId"))
}

fn by_id(id: &str) -> Key<'_> {
    Key { id: Some(id.into()), name: None }
}
