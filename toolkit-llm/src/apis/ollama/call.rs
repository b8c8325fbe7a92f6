//! Reads the calls of a message.

use super::FACTS;
use crate::apis::openai::unknown_of_function;
use crate::call::WireCall;
use crate::fields::text;
use crate::ids;
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// Returns whether a value has the form of a call: an object whose field `function` has a name.
pub(super) fn is_call(value: &Value) -> bool {
    value.get("function").is_some_and(|function| function.get("name").is_some())
}

/// Parses an element of `tool_calls`, in the form `{id?, function: {index?, name, arguments}}`.
pub(super) fn read(json: &Value) -> WireCall<'_> {
    let function = json.get("function").unwrap_or(&Value::Null);
    let index = function.get("index").and_then(Value::as_u64);
    let name = text(function, "name");
    let arguments = function.get("arguments");
    WireCall {
        index: index.and_then(|index| usize::try_from(index).ok()),
        ..WireCall::new(json, json.get("id"), name, arguments, extras)
    }
}

/// Returns the fields of a call and of its object `function` that `ToolCall` cannot express. They are sent back to the
/// server.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    ProviderExtras::new(FACTS.name, unknown_of_function(json, &["id", "type", "index", "name", "arguments"]))
}

/// Returns the id if a provider assigned it, and `None` if this library generated it.
pub(super) fn sendable_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !ids::is_generated(id)).then_some(id)
}
