//! Messages for the next request, received or made.

use super::media::{self, is_blank};
use super::{Anthropic, FACTS};
use crate::call::{self as shared, Message, OutgoingCall};
use crate::codec::HistoryCodec;
use crate::fields::{set, text};
use serde_json::{Value, json};
use toolkit_core::output::Content;

impl HistoryCodec for Anthropic {
    /// Writes a call for the next request, without fields that are `null`, which is how a client writes that there is
    /// none, and which the service refuses.
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut block = call.fields(FACTS.name);
        block.retain(|_, value| !value.is_null());
        let input = shared::object(block.get("input"), call.arguments);
        set(&mut block, "type", "tool_use");
        set(&mut block, "id", call.id);
        set(&mut block, "name", call.name);
        set(&mut block, "input", input);
        block.into()
    }

    /// Keeps thinking to the character, because it is signed, and drops blank texts, which the service refuses.
    fn write_part(&self, block: &Value) -> Option<Value> {
        let mut fields = block.as_object()?.clone();
        match text(block, "type") {
            "text" if is_blank(text(block, "text")) => return None,
            // Imitators leave out what they cannot sign, but a request must have the fields.
            "thinking" => {
                for name in ["thinking", "signature"] {
                    fields.entry(name).or_insert_with(|| "".into());
                }
            }
            kind if kind.ends_with("tool_use") => {
                let arguments = shared::arguments(fields.get("input"), false);
                let input = shared::object(fields.get("input"), &arguments);
                fields.insert("input".to_owned(), input);
            }
            _ => {}
        }
        Some(fields.into())
    }

    /// Writes the two fields that the service accepts; it refuses all others, also those of its own answers.
    fn write_message(&self, message: &Message<'_>, mut blocks: Vec<Value>) -> Vec<Value> {
        match message.fields.and_then(|fields| fields.get("content")) {
            Some(Value::String(text)) if is_blank(text) => return Vec::new(),
            Some(Value::String(text)) => return vec![json!({"role": "assistant", "content": text})],
            _ => {}
        }
        // The service refuses a message that ends in thinking, as an answer does that was cut off there.
        let is_thinking = |block: &Value| matches!(text(block, "type"), "thinking" | "redacted_thinking");
        while blocks.last().is_some_and(is_thinking) {
            blocks.pop();
        }
        assistant(blocks)
    }

    /// Trims the text: the service refuses blanks at its end.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text.trim_end()).filter(|text| !text.is_empty()).map(media::text_block);
        assistant(text.into_iter().chain(calls).collect())
    }

    /// Drops blank texts and fills an empty message, because the service refuses both.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let mut blocks: Vec<Value> = contents.iter().flat_map(media::blocks).collect();
        blocks.retain(|block| !block["text"].as_str().is_some_and(is_blank));
        if blocks.is_empty() {
            blocks.push(media::text_block("(empty message)"));
        }
        json!({"role": "user", "content": blocks})
    }
}

fn assistant(blocks: Vec<Value>) -> Vec<Value> {
    if blocks.is_empty() { Vec::new() } else { vec![json!({"role": "assistant", "content": blocks})] }
}
