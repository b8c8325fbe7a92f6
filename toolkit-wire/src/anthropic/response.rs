//! Where a payload holds what the model said.

use super::Fields;
use super::call::WireCall;
use crate::WireError;
use crate::path::{element, field};
use serde_json::Value;

/// What the model said in one message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content<'a> {
    /// A message may be written as its only text.
    Text(&'a str),
    Blocks {
        list: &'a [Value],
        /// Whether the model was stopped before it had said all.
        is_cut: bool,
    },
}

impl<'a> Content<'a> {
    pub(super) fn calls(self) -> impl Iterator<Item = WireCall<'a>> {
        let (list, is_cut) = match self {
            Self::Text(_) => (&[][..], false),
            Self::Blocks { list, is_cut } => (list, is_cut),
        };
        let last = list.len().checked_sub(1).filter(|_| is_cut);
        list.iter().enumerate().filter_map(move |(at, block)| WireCall::of(block, Some(at) == last))
    }
}

/// The content of a whole response body or of a message, or the blocks themselves: a list, or one.
pub(super) fn content(payload: &Value) -> Result<Content<'_>, WireError> {
    match payload {
        Value::Array(blocks) => checked(blocks, "", false),
        Value::Object(_) if is_block(payload) => {
            Ok(Content::Blocks { list: std::slice::from_ref(payload), is_cut: false })
        }
        Value::Object(fields) => message(fields),
        _ => Err(WireError::new("", "a response, a message or a content block")),
    }
}

/// A message of other roles and other APIs looks much like one of the model's; to find no calls in it
/// would hide a mistake.
fn message(fields: &Fields) -> Result<Content<'_>, WireError> {
    if let Some(error) = reported_error(fields) {
        let expected = format!("a message of the model (the service reported an error: {error})");
        return Err(WireError::new("content", expected));
    }
    match fields.get("role") {
        None | Some(Value::Null) => {}
        Some(role) if role == "assistant" => {}
        Some(_) => return Err(WireError::new("role", "`assistant`, which marks messages of the model")),
    }
    for name in ["tool_calls", "function_call"] {
        if fields.get(name).is_some_and(|calls| !is_empty(calls)) {
            return Err(WireError::new(name, "no such field, which messages of other APIs have"));
        }
    }
    match fields.get("content") {
        Some(Value::String(text)) => Ok(Content::Text(text)),
        Some(Value::Array(blocks)) => {
            let reason = fields.get("stop_reason").and_then(Value::as_str);
            checked(blocks, "content", reason.is_some_and(is_cut))
        }
        _ => Err(WireError::new("content", "the text or the content blocks of a message")),
    }
}

/// One block that can be recognised vouches for the broken and the unknown ones beside it.
fn checked<'a>(list: &'a [Value], path: &str, is_cut: bool) -> Result<Content<'a>, WireError> {
    if list.is_empty() || list.iter().any(is_block) {
        Ok(Content::Blocks { list, is_cut })
    } else {
        Err(WireError::new(field(&element(path, 0), "type"), "the type of a content block"))
    }
}

/// Whether the model was stopped before it had said all. A `refusal` comes in the midst of what it says.
pub(super) fn is_cut(stop_reason: &str) -> bool {
    matches!(stop_reason, "max_tokens" | "model_context_window_exceeded" | "refusal")
}

/// Whether a value that nothing else tells about is a content block. The tools that the service runs
/// have blocks of their own, whose names grow by the year and end alike.
pub(super) fn is_block(value: &Value) -> bool {
    match value.get("type").and_then(Value::as_str) {
        Some("text" | "thinking" | "redacted_thinking" | "compaction" | "container_upload") => true,
        Some(kind) => kind.ends_with("tool_use") || kind.ends_with("tool_result"),
        None => value.get("name").is_some_and(Value::is_string) && value.get("input").is_some(),
    }
}

/// `{"type": "error", "error": {"type", "message"}}`, or as imitators spell it.
pub(super) fn reported_error(fields: &Fields) -> Option<String> {
    let error = fields.get("error").filter(|error| !error.is_null());
    let is_error = fields.get("type").is_some_and(|kind| kind == "error");
    let error = error.or_else(|| fields.get("message").filter(|_| is_error))?;
    match error.get("message").unwrap_or(error) {
        Value::String(message) => Some(message.clone()),
        _ => Some(error.to_string()),
    }
}

fn is_empty(calls: &Value) -> bool {
    match calls {
        Value::Null => true,
        Value::Array(calls) => calls.is_empty(),
        Value::Object(call) => call.is_empty(),
        _ => false,
    }
}
