//! The calls of a response, the contents they came in, and calls written back into a history.

use super::part::{WireCall, encode_call};
use super::response::{Content, contents, joined};
use super::spelling::{get, key};
use crate::call::ToolCall;
use crate::error::WireError;
use crate::name::WireNames;
use crate::wire::ids;
use serde_json::{Value, json};
use std::borrow::Cow;

pub(super) fn parse_calls(payload: &Value) -> Result<Vec<ToolCall>, WireError> {
    let payload = joined(payload)?;
    let calls: Vec<WireCall<'_>> = contents(&payload)?.iter().flat_map(Content::calls).collect();
    let ids = ids::complete(calls.iter().map(|call| (call.call, call.id())));
    Ok(calls.into_iter().zip(ids).map(|(call, id)| call.to_call(id)).collect())
}

pub(super) fn assistant_messages(payload: &Value) -> Result<Vec<Value>, WireError> {
    let payload = joined(payload)?;
    Ok(contents(&payload)?.iter().filter_map(to_history).collect())
}

/// No content at all for no calls: the service refuses one without parts.
pub(super) fn encode_calls(calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
    if calls.is_empty() {
        return Vec::new();
    }
    let parts: Vec<Value> = calls.iter().map(|call| encode_call(call, names)).collect();
    vec![json!({"role": "model", "parts": parts})]
}

/// `None` for a content that has nothing in it, which the service refuses.
fn to_history(content: &Content<'_>) -> Option<Value> {
    let sendable = content.parts.iter().map(without_result).filter(|part| says_something(part));
    let parts: Vec<Value> = sendable
        .map(|part| WireCall::of(&part).map(WireCall::to_history).unwrap_or_else(|| part.into_owned()))
        .collect();
    if parts.is_empty() {
        return None;
    }
    let mut fields = content.fields.cloned().unwrap_or_default();
    fields.insert("role".to_owned(), "model".into());
    fields.insert("parts".to_owned(), parts.into());
    Some(Value::Object(fields))
}

/// A part without a result: those are never the model's.
fn without_result(part: &Value) -> Cow<'_, Value> {
    match part.as_object().and_then(|fields| key(fields, "functionResponse")) {
        Some(key) => {
            let mut part = part.clone();
            part.as_object_mut().map(|fields| fields.shift_remove(key));
            Cow::Owned(part)
        }
        None => Cow::Borrowed(part),
    }
}

/// An empty text is refused, unless it carries a signature, which must come back.
fn says_something(part: &Value) -> bool {
    let Some(part) = part.as_object() else { return false };
    let mut said = part.iter().filter(|(name, value)| *name != "thought" && !value.is_null());
    said.any(|(name, value)| name != "text" || value != "") || get(part, "thoughtSignature").is_some()
}
