//! Repairs histories.

use super::Bedrock;
use super::media::number_documents;
use super::read::is_call;
use crate::call::pairing::{CallKey, Entry, NO_OUTPUT};
use crate::codec::RepairCodec;
use crate::facts::result_rule::{Replies, RequiredIds, ResultPlace, ResultRule};
use crate::history::repair::part_entries;
use crate::json::fields::{Fields, set_at, text};
use serde_json::{Value, json};
use toolkit_schema::SchemaLoss;

/// The message after calls begins with all their results.
///
/// Anthropic's models refuse a request in which an id occurs twice.
pub(super) const RESULTS: ResultRule = ResultRule {
    place: ResultPlace::NextMessage(Replies { parts: "content", roles: &["user"], results_first: true }),
    in_call_order: false,
    ids: RequiredIds::Unique,
};

impl RepairCodec for Bedrock {
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let role = text(message, "role");
        part_entries(message, "content", |block| entry(block, role))
    }

    fn placeholder(&self, call: &Value, _key: &CallKey<'_>) -> Value {
        let id = call.pointer("/toolUse/toolUseId");
        json!({"toolResult": {"toolUseId": id, "content": [{"text": NO_OUTPUT}]}})
    }

    fn set_id(&self, block: &mut Value, id: &str) {
        let kind = if is_call(block) { "toolUse" } else { "toolResult" };
        set_at(block, &[kind, "toolUseId"], id);
    }

    /// Joins messages of the same role, which the service refuses, and renames documents.
    fn complete_repair(
        &self,
        history: Vec<Value>,
        _request: Option<&Fields>,
        _losses: &mut Vec<SchemaLoss>,
    ) -> Vec<Value> {
        let mut joined: Vec<Value> = Vec::with_capacity(history.len());
        for mut message in history {
            let role = text(&message, "role");
            if !role.is_empty()
                && let Some(before) = joined.last_mut()
                && text(before, "role") == role
                && let Some(Value::Array(blocks)) = before.get_mut("content")
                && let Some(Value::Array(more)) = message.get_mut("content")
            {
                blocks.append(more);
            } else {
                joined.push(message);
            }
        }
        let contents = joined.iter_mut().filter_map(|message| message.get_mut("content"));
        number_documents(contents.filter_map(Value::as_array_mut).flatten());
        joined
    }
}

fn entry<'a>(block: &'a Value, role: &str) -> Option<Entry<'a>> {
    match role {
        "assistant" if is_call(block) => {
            let id = block.pointer("/toolUse/toolUseId")?.as_str()?;
            Some(Entry::Call(CallKey::of_id(Some(id.into())), block))
        }
        "user" => {
            let id = text(block.get("toolResult")?, "toolUseId");
            Some(Entry::Result(CallKey::of_id(Some(id.into())), block))
        }
        _ => None,
    }
}
