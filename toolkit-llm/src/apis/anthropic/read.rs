//! Reads what a response contains: calls, text and reasoning.

use super::{Anthropic, FACTS};
use crate::call::WireCall;
use crate::call::received::{DecodedPayload, ReceivedMessage};
use crate::codec::ResponseCodec;
use crate::hosted::{HostedCall, HostedPart};
use crate::json::error::{check_role, failed, reported_error};
use crate::json::fields::{Fields, element, field, text, unknown};
use crate::json::{WireError, texts};
use crate::response::{FinishReason, Response};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

impl ResponseCodec for Anthropic {
    /// Finds the blocks in a response body, a message, a list of blocks, or a block.
    fn read<'a>(&self, payload: &'a Value) -> Result<DecodedPayload<'a>, WireError> {
        let message = match payload {
            Value::Array(blocks) => content(blocks, "", false, false)?,
            Value::Object(_) if is_block(payload) => {
                content(std::slice::from_ref(payload), "", false, false)?
            }
            Value::Object(fields) => message(fields, payload)?,
            _ => return Err(WireError::new("", "a response, a message or a content block")),
        };
        Ok(DecodedPayload { payload, messages: vec![message] })
    }

    fn describe(&self, reading: &DecodedPayload<'_>, response: &mut Response) {
        response.text = text(reading.payload, "content").to_owned();
        for block in reading.other_parts() {
            match text(block, "type") {
                "text" => response.text.push_str(&texts::of(block, "text")),
                "thinking" => response.reasoning.push_str(&texts::of(block, "thinking")),
                _ => {}
            }
        }
        response.finish = FinishReason::parse(text(reading.payload, "stop_reason"));
        let explanation = reading.payload.pointer("/stop_details/explanation").and_then(Value::as_str);
        response.refusal = explanation.unwrap_or_default().to_owned();
        // The service does not count cached tokens as input tokens.
        let usage = &mut response.usage;
        let cached = usage.cached_input_tokens.saturating_add(usage.cache_write_tokens);
        usage.input_tokens = usage.input_tokens.saturating_add(cached);
    }
}

pub(super) fn hosted(block: &Value) -> Option<HostedPart> {
    let kind = text(block, "type");
    let call = |arguments| HostedCall::from_part(block, kind, text(block, "name"), arguments);
    match kind {
        "tool_use" | "tool_result" => None,
        _ if kind.ends_with("tool_use") => {
            let server = text(block, "server_name").to_owned();
            Some(HostedPart::Call(HostedCall { server, ..call(block.get("input")) }))
        }
        _ if kind.ends_with("tool_result") => {
            Some(HostedPart::Output(call(None).with_output(block.get("content"))))
        }
        _ => None,
    }
}

/// Reads a message of the model.
///
/// Messages with other roles or of other APIs are refused. As messages without calls, they would hide a
/// mistake of the caller.
fn message<'a>(fields: &'a Fields, message: &Value) -> Result<ReceivedMessage<'a>, WireError> {
    if let Some(error) = reported_error(fields) {
        return Err(failed("content", "a message of the model", Some(error)));
    }
    check_role(fields, "assistant", "messages")?;
    for name in ["tool_calls", "function_call"] {
        let is_empty = match fields.get(name) {
            None | Some(Value::Null) => true,
            Some(Value::Array(calls)) => calls.is_empty(),
            Some(Value::Object(call)) => call.is_empty(),
            Some(_) => false,
        };
        if !is_empty {
            return Err(WireError::new(name, "no such field, which messages of other APIs have"));
        }
    }
    let found = match fields.get("content") {
        Some(Value::String(_)) => ReceivedMessage { fields: None, parts: Vec::new(), is_whole: true },
        Some(Value::Array(blocks)) => {
            let is_cut = FinishReason::parse(text(message, "stop_reason")).is_cut();
            // Only responses of this API have a stop reason.
            content(blocks, "content", is_cut, fields.contains_key("stop_reason"))?
        }
        _ => return Err(WireError::new("content", "the text or the content blocks of a message")),
    };
    Ok(ReceivedMessage { fields: Some(fields), ..found })
}

/// Reads a list of content blocks, including damaged and unknown ones.
///
/// At least one block must be known, unless `is_certain` states that the list belongs to this API.
fn content<'a>(
    list: &'a [Value],
    path: &str,
    is_cut: bool,
    is_certain: bool,
) -> Result<ReceivedMessage<'a>, WireError> {
    if !is_certain && !list.is_empty() && !list.iter().any(is_block) {
        return Err(WireError::new(field(&element(path, 0), "type"), "the type of a content block"));
    }
    Ok(ReceivedMessage::from_list(list, is_cut, read_call_block))
}

fn read_call_block(block: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    if is_call(block) { Some(read_call(block, is_cut)) } else { None }
}

/// Returns whether a value is a content block: it has a known type, or no type but the fields of a call.
///
/// New hosted tools are added regularly, so their blocks are recognised by the end of their type.
pub(crate) fn is_block(value: &Value) -> bool {
    match value.get("type").and_then(Value::as_str) {
        Some("text" | "thinking" | "redacted_thinking" | "compaction" | "container_upload") => true,
        Some(kind) => kind.ends_with("tool_use") || kind.ends_with("tool_result"),
        None => value.get("name").is_some_and(Value::is_string) && value.get("input").is_some(),
    }
}

/// The fields with a counterpart in [`ToolCall`](toolkit_core::call::ToolCall).
///
/// All other fields, such as `caller` and `toolset_name`, become provider extras.
const KNOWN: [&str; 4] = ["type", "id", "name", "input"];

/// Returns whether a content block is a tool call for the program.
///
/// Calls of the type `server_tool_use` run at the service. A block without a type counts as a damaged call,
/// so that no call is lost.
fn is_call(block: &Value) -> bool {
    match block.get("type") {
        Some(Value::String(kind)) => kind == "tool_use",
        _ => true,
    }
}

/// Parses a call from a block `{type: "tool_use", id, name, input}`.
///
/// Some servers send a string as `input`, which stays unchanged.
pub(super) fn read_call(json: &Value, is_cut: bool) -> WireCall<'_> {
    let call = WireCall::new(json, json.get("id"), text(json, "name"), json.get("input"), extras);
    WireCall { is_cut, ..call }
}

fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    ProviderExtras::new(FACTS.name, unknown(json, &KNOWN))
}
