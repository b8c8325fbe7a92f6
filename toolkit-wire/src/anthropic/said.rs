//! What the user and the model said, for a history that is made rather than received.

use super::calls::{encode_calls, is_blank};
use super::media::{blocks, text_block};
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

/// The service refuses blank texts, and messages without content.
pub(super) fn encode_user(contents: &[Content]) -> Value {
    let mut blocks: Vec<Value> = contents.iter().flat_map(blocks).collect();
    blocks.retain(|block| !block["text"].as_str().is_some_and(is_blank));
    if blocks.is_empty() {
        blocks.push(text_block("(empty message)"));
    }
    json!({"role": "user", "content": blocks})
}

pub(super) fn encode_assistant(text: &str, calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
    let mut messages = encode_calls(calls, names);
    // Blanks at the end of a text that nothing follows are refused, too.
    let text = text.trim_end();
    if text.is_empty() {
        return messages;
    }
    match messages.first_mut().and_then(|message| message["content"].as_array_mut()) {
        Some(blocks) => blocks.insert(0, text_block(text)),
        None => messages.push(json!({"role": "assistant", "content": [text_block(text)]})),
    }
    messages
}
