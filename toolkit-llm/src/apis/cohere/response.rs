//! Reads the message of a response.

use super::{Cohere, call};
use crate::WireError;
use crate::call::{Message, Reading};
use crate::codec::ResponseCodec;
use crate::error::{Report, check_role, failed, reported_error};
use crate::fields::{Fields, element, field, optional, text};
use crate::response::{FinishReason, Response};
use crate::texts;
use serde_json::Value;

impl ResponseCodec for Cohere {
    /// Finds the message in a response body. Also accepts a single message, a single call, or a list of calls.
    fn read<'a>(&self, payload: &'a Value) -> Result<Reading<'a>, WireError> {
        let is_cut = FinishReason::parse(text(payload, "finish_reason")).is_cut();
        let messages = match payload {
            Value::Array(calls) if calls.is_empty() => Vec::new(),
            // If at least one value is a call, damaged calls beside it are accepted, too.
            Value::Array(calls) if calls.iter().any(call::is_call) => vec![of_calls(calls, false)],
            Value::Array(_) => return Err(WireError::new("[0]", "a call with `function`")),
            Value::Object(_) if call::is_call(payload) => {
                vec![of_calls(std::slice::from_ref(payload), false)]
            }
            Value::Object(fields) => match fields.get("message") {
                Some(Value::Object(fields)) => vec![message(fields, "message", is_cut)?],
                None if is_message(fields) => vec![message(fields, "", false)?],
                other => {
                    let error = reported_error(fields);
                    // The service reports errors as `{message}`.
                    let error = error.or_else(|| other.and_then(Value::as_str).map(Report::new));
                    return Err(failed("message", "a message of the model", error));
                }
            },
            _ => return Err(WireError::new("", "a response, a message or a call")),
        };
        Ok(Reading { payload, messages })
    }

    /// Sets the text and the reasoning of `response`. The plan that the model writes before its calls counts as
    /// reasoning, like content parts of the type `thinking`.
    fn describe(&self, reading: &Reading<'_>, response: &mut Response) {
        if let Some(fields) = reading.messages.first().and_then(|message| message.fields) {
            let of = |name, is_reasoning| fields.get(name).map(|value| texts::pieces(value, is_reasoning));
            let pieces = [of("tool_plan", true), of("content", false)].into_iter().flatten().flatten();
            for (is_reasoning, text) in pieces {
                let said = if is_reasoning { &mut response.reasoning } else { &mut response.text };
                said.push_str(&text);
            }
        }
        response.finish = FinishReason::parse(text(reading.payload, "finish_reason"));
    }
}

fn of_calls(calls: &[Value], is_cut: bool) -> Message<'_> {
    let cut = calls.len().checked_sub(1).filter(|_| is_cut);
    let read = |json, is_cut| Some(call::read(json, is_cut));
    Message { is_whole: false, ..Message::of_parts(calls, cut, read) }
}

fn is_message(fields: &Fields) -> bool {
    ["role", "content", "tool_calls", "tool_plan"].iter().any(|name| fields.contains_key(*name))
}

fn message<'a>(fields: &'a Fields, path: &str, is_cut: bool) -> Result<Message<'a>, WireError> {
    check_role(fields, "assistant", "messages")?;
    let content =
        optional(fields, path, "content", "the text or the content parts of a message", |content| {
            let is_text = texts::is_text(content, path);
            content.as_array().map(Vec::as_slice).or_else(|| is_text.then_some(&[][..]))
        })?;
    let is_part = |part: &Value| matches!(text(part, "type"), "text" | "thinking");
    // A message of another API may have calls among its parts. These calls would be lost.
    if content.is_some_and(|parts| !parts.is_empty() && !parts.iter().any(is_part)) {
        let path = element(&field(path, "content"), 0);
        return Err(WireError::new(path, "a content part of the type `text` or `thinking`"));
    }
    let calls = optional(fields, path, "tool_calls", "a list of calls", Value::as_array)?;
    let calls = calls.map_or(&[][..], Vec::as_slice);
    Ok(Message { fields: Some(fields), is_whole: true, ..of_calls(calls, is_cut) })
}
