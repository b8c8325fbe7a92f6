//! Writes messages for the next request.

use super::media;
use super::{Anthropic, FACTS};
use crate::call::{Arguments, Message, OutgoingCall};
use crate::codec::HistoryCodec;
use crate::fields::{set, text};
use crate::results::is_blank;
use crate::texts;
use serde_json::{Value, json};
use toolkit_core::output::Content;

impl HistoryCodec for Anthropic {
    /// Writes a call for the next request. Fields with `null` are left out, because the service refuses them.
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut block = call.fields(FACTS.name);
        block.retain(|_, value| !value.is_null());
        set(&mut block, "type", "tool_use");
        set(&mut block, "id", call.id);
        set(&mut block, "name", call.name);
        set(&mut block, "input", call.arguments.into_object());
        block.into()
    }

    /// Copies a received content block into the next request. Thinking blocks stay unchanged, because they
    /// are signed. Blank text blocks are dropped, because the service refuses them.
    fn write_part(&self, block: &Value) -> Option<Value> {
        let block = &*texts::settled(block, &["text"]);
        let mut fields = block.as_object()?.clone();
        match text(block, "type") {
            "text" if is_blank(text(block, "text")) => return None,
            // Compatible servers may send thinking without a signature, but requests require the field.
            "thinking" => {
                for name in ["thinking", "signature"] {
                    fields.entry(name).or_insert_with(|| "".into());
                }
            }
            kind if kind.ends_with("tool_use") => {
                let input = Arguments::of(fields.get("input"), false).into_object();
                fields.insert("input".to_owned(), input);
            }
            _ => {}
        }
        Some(fields.into())
    }

    /// Writes a message with only the fields `role` and `content`. The service refuses any other field, even
    /// those that appear in its own responses.
    fn write_message(&self, message: &Message<'_>, mut blocks: Vec<Value>) -> Vec<Value> {
        match message.fields.and_then(|fields| fields.get("content")) {
            Some(Value::String(text)) if is_blank(text) => return Vec::new(),
            Some(Value::String(text)) => return vec![json!({"role": "assistant", "content": text})],
            _ => {}
        }
        // The service refuses a message that ends with a thinking block. A response that was cut off during
        // thinking ends like this.
        while ends_with_thinking(&blocks) {
            blocks.pop();
        }
        assistant(blocks)
    }

    /// Encodes an assistant message. White space at the end of the text is removed, because the service
    /// refuses it.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text.trim_end()).filter(|text| !text.is_empty()).map(media::text_block);
        assistant(text.into_iter().chain(calls).collect())
    }

    /// Encodes a user message. The service refuses blank texts and empty messages, so blank texts are dropped
    /// and an empty message gets a placeholder text.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let mut blocks: Vec<Value> = contents.iter().flat_map(media::blocks).collect();
        blocks.retain(|block| !block["text"].as_str().is_some_and(is_blank));
        if blocks.is_empty() {
            blocks.push(media::text_block("(empty message)"));
        }
        json!({"role": "user", "content": blocks})
    }
}

pub(super) fn ends_with_thinking(blocks: &[Value]) -> bool {
    blocks.last().is_some_and(|block| matches!(text(block, "type"), "thinking" | "redacted_thinking"))
}

fn assistant(blocks: Vec<Value>) -> Vec<Value> {
    if blocks.is_empty() { Vec::new() } else { vec![json!({"role": "assistant", "content": blocks})] }
}
