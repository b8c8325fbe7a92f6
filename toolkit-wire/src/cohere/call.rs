//! Reads the calls of a message.

use super::FACTS;
use crate::call::{self, WireCall};
use crate::fields::{Fields, only, set, text};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// Returns whether a value alone, without a message around it, is a call.
pub(super) fn is_call(value: &Value) -> bool {
    value.get("function").is_some_and(Value::is_object)
}

/// Reads an element of `tool_calls`: `{id, type, function: {name, arguments}}`. If generation stopped early at this
/// call, `is_cut` is `true`.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let function = json.get("function").unwrap_or(&Value::Null);
    WireCall {
        json,
        id: call::id(json.get("id")),
        name: text(function, "name"),
        input: function.get("arguments"),
        is_custom: false,
        is_cut,
        index: None,
        members: &[],
        extras,
    }
}

/// Returns the unknown fields of a call and of its function, to be sent back to the service.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    const KNOWN: [&str; 5] = ["id", "type", "function", "name", "arguments"];
    let unknown = |fields: Option<&Value>| match fields {
        Some(Value::Object(fields)) => only(fields, |name, value| !KNOWN.contains(&name) && !value.is_null()),
        _ => Fields::new(),
    };
    let (mut extras, function) = (unknown(Some(json)), unknown(json.get("function")));
    if !function.is_empty() {
        set(&mut extras, "function", function);
    }
    ProviderExtras::new(FACTS.name, extras)
}
