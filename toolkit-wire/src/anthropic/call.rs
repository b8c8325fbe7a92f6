//! Calls among the content blocks, read and written.

use super::FACTS;
use crate::call::{self, WireCall};
use crate::fields::{only, text};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// The fields that have a place in our call. All others (`caller`, `toolset_name`) are its extras.
const KNOWN: [&str; 4] = ["type", "id", "name", "input"];

/// Returns whether a content block is a call of ours. Those of tools that the service runs (`server_tool_use`)
/// are not. A block without a type is a call that came broken: all other blocks would be without any
/// meaning, while a call must not be lost.
pub(super) fn is_call(block: &Value) -> bool {
    match block.get("type") {
        Some(Value::String(kind)) => kind == "tool_use",
        _ => true,
    }
}

/// Reads a block `{type: "tool_use", id, name, input}`. `is_cut` marks the block at which the model was
/// stopped. Servers that write text instead of a value get it as it came.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let others = |fields| only(fields, |name, value| !KNOWN.contains(&name) && !value.is_null());
    WireCall {
        json,
        id: call::id(json.get("id")),
        name: text(json, "name"),
        arguments: call::arguments(json.get("input"), is_cut),
        index: None,
        extras: ProviderExtras::new(FACTS.name, json.as_object().map(others).unwrap_or_default()),
    }
}
