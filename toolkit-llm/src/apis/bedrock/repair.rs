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

/// The message after a message with calls must begin with the results of all these calls. Anthropic's models refuse a
/// request in which an id occurs twice.
pub(super) const RESULTS: ResultRule = ResultRule {
    place: ResultPlace::NextMessage(Replies { parts: "content", roles: &["user"], results_first: true }),
    in_call_order: false,
    ids: RequiredIds::Unique,
};

impl RepairCodec for Bedrock {
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let key = |id: &'a str| CallKey::of_id(Some(id.into()));
        let role = text(message, "role");
        part_entries(message, "content", |block| match role {
            "assistant" if is_call(block) => {
                Some(Entry::Call(key(block.pointer("/toolUse/toolUseId")?.as_str()?), block))
            }
            "user" => Some(Entry::Result(key(text(block.get("toolResult")?, "toolUseId")), block)),
            _ => None,
        })
    }

    fn placeholder(&self, call: &Value, _key: &CallKey<'_>) -> Value {
        let id = call.pointer("/toolUse/toolUseId");
        json!({"toolResult": {"toolUseId": id, "content": [{"text": NO_OUTPUT}]}})
    }

    fn set_id(&self, block: &mut Value, id: &str) {
        let kind = if is_call(block) { "toolUse" } else { "toolResult" };
        set_at(block, &[kind, "toolUseId"], id);
    }

    /// Joins adjacent messages of the same role, because the service requires alternating roles. Also makes the names
    /// of documents distinct.
    fn complete_repair(
        &self,
        history: Vec<Value>,
        _request: Option<&Fields>,
        _losses: &mut Vec<SchemaLoss>,
    ) -> Vec<Value> {
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
