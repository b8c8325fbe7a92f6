//! What the user and the model said, for a history that is made rather than received.

use super::calls::encode_calls;
use super::results::{content_text, part};
use crate::HistoryWriter;
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;
use toolkit_core::output::Content;

/// A text where text is all there is, because many servers take nothing else.
pub(super) fn encode_user(contents: &[Content]) -> Value {
    let content = match contents {
        [only] if part(only).is_none() => content_text(only).into(),
        _ => contents
            .iter()
            .map(|content| {
                part(content).unwrap_or_else(|| json!({"type": "text", "text": content_text(content)}))
            })
            .collect::<Value>(),
    };
    json!({"role": "user", "content": content})
}

pub(super) fn encode_assistant(text: &str, calls: &[ToolCall], how: &HistoryWriter<'_>) -> Value {
    let mut message = encode_calls(calls, how);
    if !text.is_empty() {
        message["content"] = text.into();
    }
    message
}
