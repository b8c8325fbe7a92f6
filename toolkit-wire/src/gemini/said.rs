//! What the user and the model said, for a history that is made rather than received.

use super::calls::encode_calls;
use super::results::{media, media_part};
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

pub(super) fn encode_user(contents: &[Content]) -> Value {
    let part = |content: &Content| match media(content) {
        Some(media) => media_part(media),
        None => json!({"text": content.to_text()}),
    };
    let mut parts: Vec<Value> = contents.iter().map(part).collect();
    if parts.is_empty() {
        parts.push(json!({"text": ""}));
    }
    json!({"role": "user", "parts": parts})
}

pub(super) fn encode_assistant(text: &str, calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
    let mut messages = encode_calls(calls, names);
    if text.is_empty() {
        return messages;
    }
    let said = json!({"text": text});
    match messages.first_mut().and_then(|message| message["parts"].as_array_mut()) {
        Some(parts) => parts.insert(0, said),
        None => messages.push(json!({"role": "model", "parts": [said]})),
    }
    messages
}
