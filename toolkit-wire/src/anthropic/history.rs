//! Messages for the next request, received or made.

use super::{Anthropic, IDS, call, media};
use crate::call::{self as shared, WireCall};
use crate::codec::{HistoryCodec, IdRule};
use crate::reading::Message;
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

impl HistoryCodec for Anthropic {
    fn id_rule(&self) -> Option<IdRule> {
        Some(IdRule { rule: IDS, is_strict: true })
    }

    fn write_call(&self, call: &WireCall<'_>, id: String, names: &WireNames) -> Value {
        call::write(call, id, names)
    }

    /// Keeps thinking to the character, because it is signed, and drops blank texts, which the service refuses.
    fn write_part(&self, block: &Value) -> Option<Value> {
        let mut fields = block.as_object()?.clone();
        match shared::text(block, "type") {
            "text" if is_blank(shared::text(block, "text")) => return None,
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
        if let Some(Value::String(text)) = message.fields.and_then(|fields| fields.get("content")) {
            return if is_blank(text) {
                Vec::new()
            } else {
                vec![json!({"role": "assistant", "content": text})]
            };
        }
        // The service refuses a message that ends in thinking, as an answer does that was cut off there.
        let is_thinking =
            |block: &Value| matches!(shared::text(block, "type"), "thinking" | "redacted_thinking");
        while blocks.last().is_some_and(is_thinking) {
            blocks.pop();
        }
        assistant(blocks)
    }

    fn encode_call(&self, call: &ToolCall, id: String, names: &WireNames) -> Value {
        call::encode(call, id, names)
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

/// Returns whether the service would take the text for none, and refuse it.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
