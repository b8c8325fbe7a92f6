//! Repairs histories, so that every call has a result.

use super::media::text_block;
use super::{Anthropic, FACTS, unfinished};
use crate::codec::RepairCodec;
use crate::fields::{Fields, list, text};
use crate::pairing::{Entry, Key, NO_OUTPUT, Pair};
use crate::repair::{Replies, distinct_ids, repair};
use crate::results::is_blank;
use serde_json::{Value, json};
use toolkit_schema::SchemaLoss;

impl RepairCodec for Anthropic {
    /// Moves results to the message after their calls, adds missing results, removes results without a call,
    /// and makes the ids of calls distinct.
    ///
    /// The user message after a message with calls must begin with the results of all these calls, and may
    /// contain no other results. The service reads adjacent user messages as one message.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        repaired(history)
    }

    /// Repairs the new messages of a conversation that the service stores. Results before the first message of the
    /// model stay, because the service has their calls.
    fn repair_continuation(&self, mut history: Vec<Value>) -> Vec<Value> {
        let first = history.iter().position(|message| !Self::is_reply(message)).unwrap_or(history.len());
        let rest = history.split_off(first);
        history.extend(repaired(rest));
        history
    }

    fn without_unfinished(
        &self,
        history: Vec<Value>,
        request: Option<&Fields>,
        losses: &mut Vec<SchemaLoss>,
    ) -> Vec<Value> {
        if request.is_some_and(|request| FACTS.is_continued(request)) {
            history
        } else {
            unfinished::remove(history, request.is_none_or(has_container), losses)
        }
    }
}

fn repaired(history: Vec<Value>) -> Vec<Value> {
    let mut history = repair::<Anthropic>(history);
    distinct_ids::<Anthropic>(&mut history, FACTS.ids, |block| match text(block, "type") {
        "tool_use" => block.get_mut("id"),
        "tool_result" => block.get_mut("tool_use_id"),
        _ => None,
    });
    history
}

/// Returns whether a request names a container. The field is the id, or an object with the id beside skills.
fn has_container(request: &Fields) -> bool {
    let id = request.get("container").map(|container| container.get("id").unwrap_or(container));
    id.and_then(Value::as_str).is_some_and(|id| !id.is_empty())
}

impl Replies for Anthropic {
    const PARTS: &'static str = "content";

    fn is_reply(message: &Value) -> bool {
        text(message, "role") == "user"
    }

    /// Lists the calls and results of a message. Calls without an id are left out.
    fn entries(message: &Value) -> Vec<Entry<'_>> {
        let role = text(message, "role");
        let entries = list(message, "content").iter().filter_map(|block| match (text(block, "type"), role) {
            ("tool_use", "assistant") => Some(Entry::Call(by_id(block.get("id")?.as_str()?), block)),
            ("tool_result", "user") => Some(Entry::Result(by_id(text(block, "tool_use_id")), block)),
            _ => None,
        });
        entries.collect()
    }

    fn is_result(block: &Value) -> bool {
        text(block, "type") == "tool_result"
    }

    fn no_output(call: &Pair<'_>) -> Value {
        json!({"type": "tool_result", "tool_use_id": call.call.get("id"), "content": NO_OUTPUT})
    }

    /// Returns whether `replies` begin with one result for each call id in `results`, in any order, and contain no
    /// other results. `results` are the results after the repair.
    fn is_answered(results: &[Value], replies: &[Value]) -> bool {
        let mut waiting: Vec<&str> = results.iter().map(|result| text(result, "tool_use_id")).collect();
        for reply in replies {
            // A reply whose content is a string cannot begin with results.
            if !waiting.is_empty() && reply.get("content").is_some_and(|content| !content.is_array()) {
                return false;
            }
            for block in list(reply, "content") {
                let id = text(block, "tool_use_id");
                match (Self::is_result(block), waiting.iter().position(|waiting| *waiting == id)) {
                    (true, Some(at)) => drop(waiting.remove(at)),
                    (false, _) if waiting.is_empty() => {}
                    _ => return false,
                }
            }
        }
        waiting.is_empty()
    }

    fn parts_beside(reply: &mut Value, _held_results: bool) -> Option<Vec<Value>> {
        Some(match reply.get_mut("content").map(Value::take) {
            Some(Value::Array(rest)) => rest,
            Some(Value::String(text)) if !is_blank(&text) => vec![text_block(&text)],
            _ => Vec::new(),
        })
    }
}

fn by_id(id: &str) -> Key<'_> {
    Key { id: Some(id.into()), name: None }
}
