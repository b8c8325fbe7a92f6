//! Reads the items of a response: calls, text and reasoning.

use super::OpenAiResponses;
use super::call;
use crate::WireError;
use crate::call::{Message, Reading};
use crate::codec::ResponseCodec;
use crate::error::{check_role, failed, reported_error};
use crate::fields::{Fields, kind, list, set, text};
use crate::response::{FinishReason, Response};
use crate::texts;
use serde_json::Value;

impl ResponseCodec for OpenAiResponses {
    /// Finds the items in `payload`. The payload is a response body, a list of items, or a single item.
    fn read<'a>(&self, payload: &'a Value) -> Result<Reading<'a>, WireError> {
        let message = match payload {
            // If at least one value is an item, unknown items beside it are accepted, too.
            Value::Array(list) if list.is_empty() || list.iter().any(is_item) => message(list, false),
            Value::Array(_) => return Err(WireError::new("[0]", "an item such as `function_call`")),
            Value::Object(fields) if is_item(payload) => {
                check_role(fields, "assistant", "messages")?;
                message(std::slice::from_ref(payload), false)
            }
            Value::Object(fields) => Message { is_whole: true, ..body(fields)? },
            _ => return Err(WireError::new("", "a response, an item or a list of items")),
        };
        Ok(Reading { payload, messages: vec![message] })
    }

    fn describe(&self, reading: &Reading<'_>, response: &mut Response) {
        for item in reading.other_parts() {
            let target = match text(item, "type") {
                "reasoning" => &mut response.reasoning,
                "message" | "" => &mut response.text,
                _ => continue,
            };
            target.push_str(&texts::of(item, "summary"));
            target.push_str(&texts::of(item, "content"));
            list(item, "content")
                .iter()
                .for_each(|part| response.refusal.push_str(&texts::of(part, "refusal")));
        }
        let status = match text(reading.payload, "status") {
            status @ "incomplete" => {
                let reason = reading.payload.pointer("/incomplete_details/reason");
                reason.and_then(Value::as_str).unwrap_or(status)
            }
            status => status,
        };
        response.finish = FinishReason::parse(status);
    }
}

/// Reads a list of items as one message. If generation stopped early (`is_cut`), the last item is read as
/// incomplete.
fn message(list: &[Value], is_cut: bool) -> Message<'_> {
    let last = list.len().checked_sub(1).filter(|_| is_cut);
    Message { is_whole: false, ..Message::of_parts(list, last, call::read) }
}

fn body(fields: &Fields) -> Result<Message<'_>, WireError> {
    let is_cut = fields.get("status").is_some_and(|status| status == "incomplete");
    match (fields.get("output"), reported_error(fields)) {
        (Some(Value::Array(list)), None) => Ok(message(list, is_cut)),
        (Some(Value::Array(list)), Some(_)) if !list.is_empty() => Ok(message(list, is_cut)),
        (_, error) => Err(failed("output", "a list of items", error)),
    }
}

/// Returns whether a value has the form of an item in the output of a response.
fn is_item(value: &Value) -> bool {
    let Some(fields) = value.as_object() else { return false };
    match kind(fields) {
        // Responses of Anthropic have this type too, but their calls are inside the field `content`.
        Some("message") => {
            !fields.contains_key("stop_reason")
                && !list(value, "content").iter().any(|block| text(block, "type") == "tool_use")
        }
        Some("reasoning" | "compaction" | "item_reference" | "program") => true,
        Some("mcp_list_tools" | "mcp_approval_request") => true,
        Some(kind) => kind.ends_with("_call") || kind.ends_with("_output"),
        None => call::read(value, false).is_some() || is_short_message(value, fields),
    }
}

/// Returns whether a value is a message in the short form that requests accept. This form has `role` and
/// `content`, but no type. Messages of Chat Completions have the same two fields, but their calls are in
/// further fields.
fn is_short_message(value: &Value, fields: &Fields) -> bool {
    let has_text = list(value, "content").iter().any(|part| text(part, "type") == "output_text");
    let has_content = has_text || value.get("content").is_some_and(Value::is_string);
    has_content && fields.contains_key("role") && !fields.contains_key("tool_calls")
}

/// Removes fields that responses may contain but requests must not contain ("Unknown parameter", "Invalid
/// type"). The service or an SDK adds such fields.
pub(super) fn strip_refused(item: &mut Fields) {
    let is_reasoning = kind(item) == Some("reasoning");
    item.retain(|name, value| match name.as_str() {
        "created_by" | "parsed_arguments" => false,
        // vLLM writes unknown fields as `null`.
        "id" | "status" | "namespace" | "async" if value.is_null() => false,
        "status" => !is_reasoning,
        "content" => !(is_reasoning && value.is_null()),
        _ => true,
    });
    if is_reasoning && item.get("summary").is_none_or(Value::is_null) {
        set(item, "summary", Value::Array(Vec::new()));
    }
    let blocks = item.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten().filter_map(Value::as_object_mut) {
        texts::settle(block, &["text"]);
        block.retain(|name, value| name != "parsed" && !(name == "logprobs" && value.is_null()));
    }
}
