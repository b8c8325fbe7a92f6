//! Reads the calls among steps.

use super::FACTS;
use crate::call::WireCall;
use crate::fields::{text, unknown};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// Returns whether a step is a call that the program has to run. A call of OpenAI's Responses API has the same type,
/// but its id is in the field `call_id`.
pub(super) fn is_call(step: &Value) -> bool {
    text(step, "type") == "function_call" && step.get("call_id").is_none()
}

/// Returns whether a value is a step. The calls and results of tools that the service runs itself have types such as
/// `google_search_call`. Items of OpenAI's Responses API may have similar types, but also have a `status`.
pub(super) fn is_step(value: &Value) -> bool {
    match text(value, "type") {
        "user_input" | "model_output" | "thought" | "function_result" => true,
        "function_call" => is_call(value),
        kind => (kind.ends_with("_call") || kind.ends_with("_result")) && value.get("status").is_none(),
    }
}

/// Parses a call from a step `{type: "function_call", id, name, arguments}`. `is_cut` is `true` if the response was cut
/// off at this step.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let call = WireCall::new(json, json.get("id"), text(json, "name"), json.get("arguments"), extras);
    WireCall { is_cut, ..call }
}

/// Returns the fields of a call that `ToolCall` cannot express. They are sent back to the service.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    ProviderExtras::new(FACTS.name, unknown(json, &["type", "id", "name", "arguments"]))
}
