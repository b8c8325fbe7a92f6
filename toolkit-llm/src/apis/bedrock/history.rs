//! Writes messages for the next request, and repairs histories.

use super::media::{self, number_documents};
use super::{Bedrock, FACTS, call};
use crate::call::{Message, Origin, OutgoingCall};
use crate::codec::{HistoryCodec, RepairCodec};
use crate::fields::{Fields, set, set_at, text};
use crate::pairing::{Entry, Key, NO_OUTPUT};
use crate::repair::part_entries;
use crate::result_rule::{CallIds, Replies, ResultPlace, ResultRule};
use crate::results::is_blank;
use crate::texts;
use serde_json::{Value, json};
use toolkit_core::output::Content;
use toolkit_schema::SchemaLoss;

impl HistoryCodec for Bedrock {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let fields = match call.origin {
            Origin::Received { json, .. } => json.get("toolUse").and_then(Value::as_object),
            Origin::Made(extras) => extras.of(FACTS.name),
        };
        let mut fields = fields.cloned().unwrap_or_default();
        fields.retain(|_, value| !value.is_null());
        set(&mut fields, "toolUseId", call.id);
        set(&mut fields, "name", call.name);
        set(&mut fields, "input", call.arguments.into_object());
        json!({"toolUse": fields})
    }

    /// Copies a received content block into the next request. Reasoning stays unchanged, because it is
    /// signed. Blank texts are dropped, because the service refuses them.
    fn write_part(&self, block: &Value) -> Option<Value> {
        let block = texts::settled(block, &["text"]);
        let is_blank = block.get("text").and_then(Value::as_str).is_some_and(is_blank);
        let has_content = block.as_object().is_some_and(|fields| !fields.is_empty());
        (has_content && !is_blank).then(|| block.into_owned())
    }

    /// Writes a message with the fields `role` and `content`. Reasoning at the end is dropped, because models
    /// refuse it there. An answer that was cut off during reasoning ends like this.
    fn write_message(&self, _message: &Message<'_>, mut blocks: Vec<Value>) -> Vec<Value> {
        while blocks.last().is_some_and(|block| block.get("reasoningContent").is_some()) {
            blocks.pop();
        }
        assistant(blocks)
    }

    /// Encodes an assistant message. White space at the end of the text is removed, because models refuse it
    /// there.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text.trim_end()).filter(|text| !text.is_empty()).map(|text| json!({"text": text}));
        assistant(text.into_iter().chain(calls).collect())
    }

    /// Encodes a user message. The service requires a text in a message with documents, and refuses blank texts and
    /// empty messages.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let mut blocks: Vec<Value> = contents.iter().map(media::block).collect();
        blocks.retain(|block| !block["text"].as_str().is_some_and(is_blank));
        number_documents(&mut blocks);
        let has = |kind| blocks.iter().any(|block| block.get(kind).is_some());
        if blocks.is_empty() {
            blocks.push(json!({"text": "(empty message)"}));
        } else if has("document") && !has("text") {
            let names = contents.iter().map(Content::to_text).collect::<Vec<_>>().join("\n");
            blocks.push(json!({"text": names}));
        }
        json!({"role": "user", "content": blocks})
    }
}

fn assistant(blocks: Vec<Value>) -> Vec<Value> {
    if blocks.is_empty() { Vec::new() } else { vec![json!({"role": "assistant", "content": blocks})] }
}

/// The message after a message with calls must begin with the results of all these calls. Anthropic's models refuse a
/// request in which an id occurs twice.
pub(super) const RESULTS: ResultRule = ResultRule {
    place: ResultPlace::NextMessage(Replies { parts: "content", roles: &["user"], results_first: true }),
    in_call_order: false,
    ids: CallIds::Unique,
};

impl RepairCodec for Bedrock {
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let key = |id: &'a str| Key::of_id(Some(id.into()));
        let role = text(message, "role");
        part_entries(message, "content", |block| match role {
            "assistant" if call::is_call(block) => {
                Some(Entry::Call(key(block.pointer("/toolUse/toolUseId")?.as_str()?), block))
            }
            "user" => Some(Entry::Result(key(text(block.get("toolResult")?, "toolUseId")), block)),
            _ => None,
        })
    }

    fn placeholder(&self, call: &Value, _key: &Key<'_>) -> Value {
        let id = call.pointer("/toolUse/toolUseId");
        json!({"toolResult": {"toolUseId": id, "content": [{"text": NO_OUTPUT}]}})
    }

    fn set_id(&self, block: &mut Value, id: &str) {
        let kind = if call::is_call(block) { "toolUse" } else { "toolResult" };
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
