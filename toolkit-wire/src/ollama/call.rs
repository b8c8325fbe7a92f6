//! Reads the calls of a message.

use super::FACTS;
use crate::call::{self, WireCall};
use crate::fields::{Fields, only, set, text};
use crate::ids;
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// Returns whether a value alone, without a message around it, is a call.
pub(super) fn is_call(value: &Value) -> bool {
    value.get("function").is_some_and(|function| function.get("name").is_some())
}

/// Reads an element of `tool_calls`: `{id?, function: {index?, name, arguments}}`.
pub(super) fn read(json: &Value) -> WireCall<'_> {
    let function = json.get("function").unwrap_or(&Value::Null);
    let index = function.get("index").and_then(Value::as_u64);
    WireCall {
        json,
        id: call::id(json.get("id")),
        name: text(function, "name"),
        input: function.get("arguments"),
        members: &[],
        is_custom: false,
        is_cut: false,
        index: index.and_then(|index| usize::try_from(index).ok()),
        extras,
    }
}

/// Returns the unknown fields of a call and of its function, to be sent back to the server.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    const KNOWN: [&str; 6] = ["id", "type", "function", "index", "name", "arguments"];
    let unknown = |fields: &Value| match fields {
        Value::Object(fields) => only(fields, |name, value| !KNOWN.contains(&name) && !value.is_null()),
        _ => Fields::new(),
    };
    let (mut extras, function) = (unknown(json), unknown(json.get("function").unwrap_or(&Value::Null)));
    if !function.is_empty() {
        set(&mut extras, "function", function);
    }
    ProviderExtras::new(FACTS.name, extras)
}

/// Returns the id if a provider assigned it, and `None` if this library generated it.
pub(super) fn sendable_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !ids::is_generated(id)).then_some(id)
}
