//! The calls of a response, the contents they came in, and calls written back into a history.

use super::part::{WireCall, encode_call, says_something};
use super::response::{Content, contents, joined};
use super::spelling::key;
use crate::WireError;
use crate::ids;
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;

pub(super) fn parse_calls(payload: &Value) -> Result<Vec<ToolCall>, WireError> {
    let payload = joined(payload)?;
    let calls: Vec<WireCall<'_>> = contents(&payload)?.iter().flat_map(Content::calls).collect();
    let ids = ids::complete(calls.iter().map(|call| (call.call, call.id())));
    Ok(calls.into_iter().zip(ids).map(|(call, id)| call.to_call(id)).collect())
}

pub(super) fn assistant_messages(payload: &Value, names: &WireNames) -> Result<Vec<Value>, WireError> {
    let payload = joined(payload)?;
    Ok(contents(&payload)?.iter().filter_map(|content| to_history(content, names)).collect())
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
fn to_history(content: &Content<'_>, names: &WireNames) -> Option<Value> {
    let last_words = content.last_words();
    let sendable = content.parts.iter().enumerate().map(|(at, part)| (Some(at), without_result(part)));
    let sendable = sendable.filter(|(_, part)| says_something(part));
    let parts: Vec<Value> = sendable
        .map(|(at, part)| match WireCall::of(&part) {
            Some(call) if at == last_words => call.stopped().to_history(names),
            Some(call) => call.to_history(names),
            None => part.into_owned(),
        })
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
