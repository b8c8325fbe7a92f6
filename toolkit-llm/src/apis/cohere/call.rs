//! Reads the calls of a message.

use super::FACTS;
use crate::apis::openai::unknown_of_function;
use crate::call::WireCall;
use crate::fields::text;
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// Returns whether a value has the form of a call: its field `function` is an object.
pub(super) fn is_call(value: &Value) -> bool {
    value.get("function").is_some_and(Value::is_object)
}

/// Parses an element of `tool_calls`, in the form `{id, type, function: {name, arguments}}`. `is_cut` is `true` if the
/// response was cut off at this call.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let function = json.get("function").unwrap_or(&Value::Null);
    let name = text(function, "name");
    let arguments = function.get("arguments");
    WireCall { is_cut, ..WireCall::new(json, json.get("id"), name, arguments, extras) }
}

/// Returns the fields of a call and of its object `function` that `ToolCall` cannot express. They are sent back to the
/// service.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    ProviderExtras::new(FACTS.name, unknown_of_function(json, &["id", "type", "name", "arguments"]))
}
