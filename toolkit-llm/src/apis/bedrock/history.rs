//! Writes messages for the next request, and repairs histories.

use super::media::{self, number_documents};
use super::{Bedrock, FACTS, call};
use crate::call::{Message, Origin, OutgoingCall};
use crate::codec::{HistoryCodec, RepairCodec};
use crate::fields::{list, set, text};
use crate::pairing::{Entry, Key, NO_OUTPUT, Pair};
use crate::repair::{Replies, distinct_ids, repair};
use crate::results::is_blank;
use crate::texts;
use serde_json::{Value, json};
use toolkit_core::output::Content;

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

impl RepairCodec for Bedrock {
    /// Moves results to the message after their calls, adds missing results, removes results without a call,
    /// and joins adjacent messages of the same role. The service requires alternating roles. Also makes the ids
    /// of calls and the names of documents distinct.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        let mut history = repair::<Self>(history);
        distinct_ids::<Self>(&mut history, FACTS.ids, |block| {
            if call::is_call(block) {
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
            "assistant" if call::is_call(block) => {
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
