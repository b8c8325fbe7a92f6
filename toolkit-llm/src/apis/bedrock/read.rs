//! Reads the content of a response: calls, text and reasoning.

use super::{Bedrock, FACTS};
use crate::call::WireCall;
use crate::call::received::{DecodedPayload, ReceivedMessage};
use crate::codec::ResponseCodec;
use crate::json::error::{Report, check_role, failed, reported_error};
use crate::json::fields::{Fields, element, field, list, object, text, unknown};
use crate::json::{WireError, texts};
use crate::response::{FinishReason, Response};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// The kinds of content blocks in the service model.
const BLOCKS: [&str; 15] = [
    "text",
    "image",
    "document",
    "video",
    "audio",
    "toolUse",
    "toolResult",
    "guardContent",
    "cachePoint",
    "reasoningContent",
    "citationsContent",
    "searchResult",
    "toolAddition",
    "toolRemoval",
    "json",
];

impl ResponseCodec for Bedrock {
    /// Finds the blocks in a response body, a message, a list of blocks, or a block.
    fn read<'a>(&self, payload: &'a Value) -> Result<DecodedPayload<'a>, WireError> {
        let message = match (payload, payload.pointer("/output/message")) {
            (Value::Array(blocks), _) => content(blocks, "", false)?,
            (Value::Object(_), None) if is_block(payload) => {
                content(std::slice::from_ref(payload), "", false)?
            }
            (Value::Object(fields), None) => message(fields, "", false)?,
            (Value::Object(_), Some(received)) => {
                let path = "output.message";
                let fields = object(received, path, "a message of the model")?;
                message(fields, path, finish(payload).is_cut())?
            }
            _ => return Err(WireError::new("", "a response, a message or a content block")),
        };
        Ok(DecodedPayload { payload, messages: vec![message] })
    }

    fn describe(&self, reading: &DecodedPayload<'_>, response: &mut Response) {
        for block in reading.other_parts() {
            response.text.push_str(&texts::of(block, "text"));
            if let Some(cited) = block.get("citationsContent") {
                for block in list(cited, "content") {
                    response.text.push_str(&texts::of(block, "text"));
                }
            }
            if let Some(reasoning) = block.pointer("/reasoningContent/reasoningText") {
                response.reasoning.push_str(&texts::of(reasoning, "text"));
            }
        }
        response.finish = finish(reading.payload);
        // The service does not count cached tokens as input tokens.
        let usage = &mut response.usage;
        let cached = usage.cached_input_tokens.saturating_add(usage.cache_write_tokens);
        usage.input_tokens = usage.input_tokens.saturating_add(cached);
    }
}

fn finish(payload: &Value) -> FinishReason {
    FinishReason::parse(text(payload, "stopReason"))
}

/// Reads a message of the model.
///
/// Messages with other roles or of other APIs are refused.
///
/// As messages without calls, they would hide a mistake of the caller.
fn message<'a>(fields: &'a Fields, path: &str, is_cut: bool) -> Result<ReceivedMessage<'a>, WireError> {
    check_role(fields, "assistant", "messages")?;
    let path = field(path, "content");
    match fields.get("content") {
        Some(Value::Array(blocks)) => {
            Ok(ReceivedMessage { fields: Some(fields), ..content(blocks, &path, is_cut)? })
        }
        _ => {
            // The service reports errors as `{message}`.
            let is_report = fields.get("message").is_some_and(Value::is_string);
            let error = match reported_error(fields) {
                None if is_report => Some(Report::read(&Value::Object(fields.clone()))),
                error => error,
            };
            Err(failed(&path, "the content blocks of a message", error))
        }
    }
}

/// Reads a list of content blocks, including damaged and unknown ones if one is known.
fn content<'a>(list: &'a [Value], path: &str, is_cut: bool) -> Result<ReceivedMessage<'a>, WireError> {
    if !list.is_empty() && !list.iter().any(is_block) {
        let expected = "a content block, such as one with `text` or `toolUse`";
        return Err(WireError::new(element(path, 0), expected));
    }
    Ok(ReceivedMessage::from_list(list, is_cut, read_call_block))
}

pub(super) fn read_call_block(block: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    if is_call(block) { Some(read_call(block, is_cut)) } else { None }
}

/// Returns whether a value is a block of this API.
///
/// Blocks of other APIs have a field `type`.
fn is_block(value: &Value) -> bool {
    value.get("type").is_none() && BLOCKS.iter().any(|kind| value.get(kind).is_some())
}

/// Returns whether a content block is a tool call for the program.
///
/// Calls of the type `server_tool_use` run at the service.
pub(super) fn is_call(block: &Value) -> bool {
    block.get("toolUse").is_some_and(|call| text(call, "type") != "server_tool_use")
}

/// Parses a call from a block `{toolUse: {toolUseId, name, input}}`.
fn read_call(json: &Value, is_cut: bool) -> WireCall<'_> {
    let tool_use = json.get("toolUse").unwrap_or(&Value::Null);
    let id = tool_use.get("toolUseId");
    let call = WireCall::new(json, id, text(tool_use, "name"), tool_use.get("input"), extras);
    WireCall { is_cut, ..call }
}

/// Returns the fields of a call that `ToolCall` cannot express.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    let call = json.get("toolUse").unwrap_or(&Value::Null);
    ProviderExtras::new(FACTS.name, unknown(call, &["toolUseId", "name", "input"]))
}
