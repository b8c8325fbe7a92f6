//! Reads the message of a response.

use super::{Ollama, call};
use crate::WireError;
use crate::call::{Message, Reading};
use crate::codec::ResponseCodec;
use crate::error::{check_role, failed, reported_error};
use crate::fields::{Fields, field, optional, text};
use crate::response::{FinishReason, Response};
use crate::texts;
use serde_json::Value;

impl ResponseCodec for Ollama {
    /// Finds the message in a response body. Also accepts a single message, a single call, or a list of calls.
    fn read<'a>(&self, payload: &'a Value) -> Result<Reading<'a>, WireError> {
        let messages = match payload {
            Value::Array(calls) if calls.is_empty() => Vec::new(),
            // If at least one value is a call, damaged calls beside it are accepted, too.
            Value::Array(calls) if calls.iter().any(call::is_call) => vec![of_calls(calls)],
            Value::Array(_) => return Err(WireError::new("[0]", "a call with `function`")),
            Value::Object(_) if call::is_call(payload) => vec![of_calls(std::slice::from_ref(payload))],
            Value::Object(fields) => match fields.get("message").and_then(Value::as_object) {
                Some(fields) => vec![message(fields, "message")?],
                None if is_message(fields) => vec![message(fields, "")?],
                None => {
                    let error = reported_error(fields);
                    return Err(failed("message", "a message of the model", error));
                }
            },
            _ => return Err(WireError::new("", "a response, a message or a call")),
        };
        Ok(Reading { payload, messages })
    }

    fn describe(&self, reading: &Reading<'_>, response: &mut Response) {
        if let Some(fields) = reading.messages.first().and_then(|message| message.fields) {
            let text = |name: &str| fields.get(name).map(texts::whole).unwrap_or_default().into_owned();
            (response.text, response.reasoning) = (text("content"), text("thinking"));
        }
        response.finish = FinishReason::parse(text(reading.payload, "done_reason"));
    }
}

fn of_calls(calls: &[Value]) -> Message<'_> {
    Message { is_whole: false, ..Message::of_parts(calls, None, |json, _| Some(call::read(json))) }
}

fn is_message(fields: &Fields) -> bool {
    ["role", "content", "tool_calls"].iter().any(|name| fields.contains_key(*name))
}

/// Reads a message of the model. Refuses messages of other APIs. If they were read as messages without calls,
/// a mistake of the caller would stay hidden.
///
/// The content must be a string, and may be missing only if there are calls. Calls are always complete, even
/// if the model was cut off.
fn message<'a>(fields: &'a Fields, path: &str) -> Result<Message<'a>, WireError> {
    check_role(fields, "assistant", "messages")?;
    optional(fields, path, "content", "the text of a message", |content| {
        texts::is_text(content, path).then_some(())
    })?;
    let calls = optional(fields, path, "tool_calls", "a list of calls", Value::as_array)?;
    if calls.is_none() && !fields.contains_key("content") {
        return Err(WireError::new(field(path, "content"), "the text of a message"));
    }
    let calls = calls.map_or(&[][..], Vec::as_slice);
    Ok(Message { fields: Some(fields), is_whole: true, ..of_calls(calls) })
}
