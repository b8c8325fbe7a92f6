//! Reads the steps of a response: calls, text and thoughts.

use super::{FACTS, GeminiInteractions};
use crate::call::WireCall;
use crate::call::received::{DecodedPayload, ReceivedMessage};
use crate::codec::ResponseCodec;
use crate::json::error::{failed, reported_error};
use crate::json::fields::{Fields, text, unknown};
use crate::json::{WireError, texts};
use crate::response::{FinishReason, Response};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

impl ResponseCodec for GeminiInteractions {
    /// Finds the steps in an interaction, a list of steps, or a single step.
    fn read<'a>(&self, payload: &'a Value) -> Result<DecodedPayload<'a>, WireError> {
        let message = match payload {
            // Unknown steps are accepted beside a known step.
            Value::Array(steps) if steps.is_empty() || steps.iter().any(is_step) => message(steps, false),
            Value::Array(_) => return Err(WireError::new("[0]", "a step such as `function_call`")),
            Value::Object(_) if is_step(payload) => message(std::slice::from_ref(payload), false),
            Value::Object(fields) => ReceivedMessage { is_whole: true, ..body(fields)? },
            _ => return Err(WireError::new("", "an interaction, a step or a list of steps")),
        };
        Ok(DecodedPayload { payload, messages: vec![message] })
    }

    fn describe(&self, reading: &DecodedPayload<'_>, response: &mut Response) {
        for step in reading.other_parts() {
            let (target, name) = match text(step, "type") {
                "model_output" => (&mut response.text, "content"),
                "thought" => (&mut response.reasoning, "summary"),
                _ => continue,
            };
            target.push_str(&texts::of(step, name));
        }
        response.finish = FinishReason::parse(text(reading.payload, "status"));
        // The service counts neither thoughts as output nor the results of its own tools as input.
        let usage = &mut response.usage;
        usage.input_tokens = usage.input_tokens.saturating_add(usage.tool_tokens);
        usage.output_tokens = usage.output_tokens.saturating_add(usage.reasoning_tokens);
    }
}

/// Reads a list of steps as one message.
///
/// If generation stopped early (`is_cut`), the last is incomplete.
fn message(steps: &[Value], is_cut: bool) -> ReceivedMessage<'_> {
    ReceivedMessage { is_whole: false, ..ReceivedMessage::from_list(steps, is_cut, read_call_step) }
}

pub(super) fn read_call_step(step: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    if is_call(step) { Some(read_call(step, is_cut)) } else { None }
}

fn body(fields: &Fields) -> Result<ReceivedMessage<'_>, WireError> {
    let status = fields.get("status").and_then(Value::as_str);
    match (fields.get("steps"), reported_error(fields)) {
        (Some(Value::Array(steps)), None) => {
            Ok(message(steps, FinishReason::parse(status.unwrap_or_default()).is_cut()))
        }
        // The interaction has no steps yet.
        (None | Some(Value::Null), None) if status.is_some() && fields.contains_key("id") => {
            Ok(message(&[], false))
        }
        (_, error) => Err(failed("steps", "the steps of an interaction", error)),
    }
}

/// Returns whether a step is a tool call for the program.
///
/// A call of OpenAI's Responses API has the same type, but its id is in `call_id`.
pub(super) fn is_call(step: &Value) -> bool {
    text(step, "type") == "function_call" && step.get("call_id").is_none()
}

/// Returns whether a value is a step.
///
/// Hosted tools have types such as `google_search_call`. Similar items of OpenAI's Responses API have a
/// `status`.
fn is_step(value: &Value) -> bool {
    match text(value, "type") {
        "user_input" | "model_output" | "thought" | "function_result" => true,
        "function_call" => is_call(value),
        kind => (kind.ends_with("_call") || kind.ends_with("_result")) && value.get("status").is_none(),
    }
}

/// Parses a call from a step `{type: "function_call", id, name, arguments}`.
pub(super) fn read_call(json: &Value, is_cut: bool) -> WireCall<'_> {
    let call = WireCall::new(json, json.get("id"), text(json, "name"), json.get("arguments"), extras);
    WireCall { is_cut, ..call }
}

/// Returns the fields of a call that `ToolCall` cannot express.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    ProviderExtras::new(FACTS.name, unknown(json, &["type", "id", "name", "arguments"]))
}
