//! The calls of a response, the message they came in, and calls written back into a history.

use super::call::{WireCall, encode, history_input};
use super::response::{Content, content};
use super::{Fields, IDS};
use crate::WireError;
use crate::{history, ids};
use serde_json::{Value, json};
use toolkit_core::call::{CallId, ToolCall};
use toolkit_core::name::WireNames;

pub(super) fn parse_calls(payload: &Value) -> Result<Vec<ToolCall>, WireError> {
    let content = content(payload)?;
    Ok(content.calls().zip(given_ids(content)).map(|(call, id)| call.to_call(id)).collect())
}

/// The service knows two fields of a message and refuses all others, also those of its own answers.
pub(super) fn assistant_messages(payload: &Value, names: &WireNames) -> Result<Vec<Value>, WireError> {
    let said = content(payload)?;
    let content = match said {
        Content::Text(text) if is_blank(text) => return Ok(Vec::new()),
        Content::Text(text) => text.into(),
        Content::Blocks { list, .. } => match history_blocks(list, said, names) {
            // The service refuses a message that says nothing.
            blocks if blocks.is_empty() => return Ok(Vec::new()),
            blocks => Value::Array(blocks),
        },
    };
    Ok(vec![json!({"role": "assistant", "content": content})])
}

pub(super) fn encode_calls(calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
    if calls.is_empty() {
        return Vec::new();
    }
    let ids = request_ids(calls.iter().map(|call| call.id.as_str()));
    let blocks = calls.iter().zip(ids).map(|(call, id)| encode(call, id, names.spell(&call.name)));
    vec![json!({"role": "assistant", "content": blocks.collect::<Vec<_>>()})]
}

/// The ids as the service takes them: of legal characters, and no two alike in one message.
pub(super) fn request_ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    history::ids(IDS, true, ids)
}

/// Whether the service would take the text for none, and refuse it.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn given_ids(content: Content<'_>) -> Vec<CallId> {
    ids::complete(content.calls().map(|call| (call.json, call.id())))
}

/// The blocks for the next request. Thinking goes back as it came, to the character: it is signed.
fn history_blocks(blocks: &[Value], content: Content<'_>, names: &WireNames) -> Vec<Value> {
    let ids = given_ids(content);
    let mut calls = content.calls().zip(request_ids(ids.iter().map(CallId::as_str)));
    let mut kept = Vec::with_capacity(blocks.len());
    for block in blocks {
        if WireCall::is(block) {
            kept.extend(calls.next().map(|(call, id)| call.to_history(id, names)));
        } else {
            kept.extend(history_block(block));
        }
    }
    // The service refuses a message that ends in thinking, as an answer does that was cut off there.
    while kept.last().is_some_and(is_thinking) {
        kept.pop();
    }
    kept
}

/// A block that is no call of ours; `None` for a text that is blank.
fn history_block(block: &Value) -> Option<Value> {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut fields: Fields = block.as_object()?.clone();
    match kind {
        "text" if fields.get("text").and_then(Value::as_str).is_none_or(is_blank) => return None,
        // Imitators leave out what they cannot sign, but a request must have the fields.
        "thinking" => {
            for name in ["thinking", "signature"] {
                fields.entry(name).or_insert_with(|| "".into());
            }
        }
        _ if kind.ends_with("tool_use") => {
            let input = history_input(fields.get("input"));
            fields.insert("input".to_owned(), input);
        }
        _ => {}
    }
    Some(fields.into())
}

fn is_thinking(block: &Value) -> bool {
    matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
}
