//! The calls of a response, the messages they came in, and calls written back into a history.

use super::IDS;
use super::call::{WireCall, encode_call};
use super::response::{Fields, Message, messages};
use crate::WireError;
use crate::writer::HistoryWriter;
use crate::{history, ids};
use serde_json::{Value, json};
use toolkit_core::call::{CallId, ToolCall};
use toolkit_core::name::WireNames;

pub(super) fn parse_calls(payload: &Value) -> Result<Vec<ToolCall>, WireError> {
    let messages = messages(payload)?;
    let calls = all_calls(&messages);
    Ok(calls.zip(all_ids(&messages)).map(|(call, id)| call.to_call(id)).collect())
}

pub(super) fn assistant_messages(payload: &Value, how: &HistoryWriter<'_>) -> Result<Vec<Value>, WireError> {
    let messages = messages(payload)?;
    let ids = all_ids(&messages);
    let mut ids = history::ids(IDS, how.strict_ids, ids.iter().map(CallId::as_str)).into_iter();
    Ok(messages.iter().map(|message| to_history(message, &mut ids, how.names)).collect())
}

pub(super) fn encode_calls(calls: &[ToolCall], how: &HistoryWriter<'_>) -> Value {
    // The service refuses an empty list of calls.
    if calls.is_empty() {
        return json!({"role": "assistant", "content": ""});
    }
    let ids = history::ids(IDS, how.strict_ids, calls.iter().map(|call| call.id.as_str()));
    let calls: Vec<Value> =
        calls.iter().zip(ids).map(|(call, id)| encode_call(call, id, how.names)).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn all_calls<'a>(messages: &[Message<'a>]) -> impl Iterator<Item = WireCall<'a>> {
    messages.iter().flat_map(|message| message.calls.iter().copied())
}

fn all_ids(messages: &[Message<'_>]) -> Vec<CallId> {
    ids::complete(all_calls(messages).map(|call| (call.json, call.id())))
}

fn to_history(message: &Message<'_>, ids: &mut impl Iterator<Item = String>, names: &WireNames) -> Value {
    let mut fields = message.fields.cloned().unwrap_or_default();
    fields.insert("role".to_owned(), "assistant".into());
    // Now among the calls if it was one; `null`, which some servers write, is refused in a request.
    fields.shift_remove("function_call");
    if message.calls.is_empty() {
        // Neither an empty list nor `null` is accepted back.
        fields.shift_remove("tool_calls");
        if is_silent(&fields) {
            fields.insert("content".to_owned(), "".into());
        }
    } else {
        let calls = message.calls.iter().zip(ids).map(|(call, id)| call.to_history(id, names));
        let calls: Vec<Value> = calls.collect();
        fields.entry("content").or_insert(Value::Null);
        fields.insert("tool_calls".to_owned(), calls.into());
    }
    Value::Object(fields)
}

/// A message without calls must say something, if only nothing.
fn is_silent(fields: &Fields) -> bool {
    ["content", "refusal", "audio"].iter().all(|name| fields.get(*name).is_none_or(Value::is_null))
}
