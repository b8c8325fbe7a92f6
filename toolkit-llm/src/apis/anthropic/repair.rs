//! Repairs histories, so that every call has a result.

use super::{Anthropic, FACTS, unfinished};
use crate::codec::RepairCodec;
use crate::fields::{Fields, set_at, text};
use crate::pairing::{Entry, Key, NO_OUTPUT};
use crate::repair::{CallIds, Replies, ResultPlace, ResultRule, part_entries};
use serde_json::{Value, json};
use toolkit_schema::SchemaLoss;

/// The user message after a message with calls must begin with the results of all these calls, and may contain no other
/// results. Anthropic's models refuse a request in which an id occurs twice.
pub(super) const RESULTS: ResultRule = ResultRule {
    place: ResultPlace::NextMessage(Replies { parts: "content", roles: &["user"], results_first: true }),
    in_call_order: false,
    ids: CallIds::Unique,
};

impl RepairCodec for Anthropic {
    /// Lists the calls and results of a message. Calls without an id are left out.
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let key = |id: &'a str| Key::of_id(Some(id.into()));
        let role = text(message, "role");
        part_entries(message, "content", |block| match (text(block, "type"), role) {
            ("tool_use", "assistant") => Some(Entry::Call(key(block.get("id")?.as_str()?), block)),
            ("tool_result", "user") => Some(Entry::Result(key(text(block, "tool_use_id")), block)),
            _ => None,
        })
    }

    fn placeholder(&self, call: &Value, _key: &Key<'_>) -> Value {
        json!({"type": "tool_result", "tool_use_id": call.get("id"), "content": NO_OUTPUT})
    }

    fn set_id(&self, block: &mut Value, id: &str) {
        let field = if text(block, "type") == "tool_use" { "id" } else { "tool_use_id" };
        set_at(block, &[field], id);
    }

    fn complete_repair(
        &self,
        history: Vec<Value>,
        request: Option<&Fields>,
        losses: &mut Vec<SchemaLoss>,
    ) -> Vec<Value> {
        if request.is_some_and(|request| FACTS.is_continued(request)) {
            return history;
        }
        unfinished::remove(history, request.is_none_or(has_container), losses)
    }
}

/// Returns whether a request names a container. The field is the id, or an object with the id beside skills.
fn has_container(request: &Fields) -> bool {
    let id = request.get("container").map(|container| container.get("id").unwrap_or(container));
    id.and_then(Value::as_str).is_some_and(|id| !id.is_empty())
}
