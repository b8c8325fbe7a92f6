//! What the user and the model said, for a history that is made rather than received.

use super::calls::encode_calls;
use super::results::{part, text, text_part};
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

pub(super) fn encode_user(contents: &[Content]) -> Value {
    let parts = contents.iter().map(|content| part(content).unwrap_or_else(|| text_part(&text(content))));
    json!({"type": "message", "role": "user", "content": parts.collect::<Value>()})
}

/// The text is an item of its own. In the short form, because the long one wants an id.
pub(super) fn encode_assistant(text: &str, calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
    let said = (!text.is_empty()).then(|| json!({"type": "message", "role": "assistant", "content": text}));
    said.into_iter().chain(encode_calls(calls, names)).collect()
}
