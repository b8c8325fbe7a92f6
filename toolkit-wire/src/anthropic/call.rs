//! Reads and writes calls among content blocks.

use super::FACTS;
use crate::call::{self, WireCall};
use crate::fields::{only, text};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// The fields with a counterpart in [`ToolCall`](toolkit_core::call::ToolCall). All other fields, such as
/// `caller` and `toolset_name`, become provider extras.
const KNOWN: [&str; 4] = ["type", "id", "name", "input"];

/// Returns whether a content block is a call for the program. Calls of tools that the service runs itself
/// (`server_tool_use`) are not for the program.
///
/// A block without a type is read as a damaged call: any other block would be useless without its type, but a
/// call must not be lost.
pub(super) fn is_call(block: &Value) -> bool {
    match block.get("type") {
        Some(Value::String(kind)) => kind == "tool_use",
        _ => true,
    }
}

/// Reads a block `{type: "tool_use", id, name, input}`. If generation stopped early at this block, `is_cut`
/// is `true`. Some servers send a string as `input`; it is kept unchanged.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    WireCall {
        json,
        id: call::id(json.get("id")),
        name: text(json, "name"),
        input: json.get("input"),
        members: &[],
        is_custom: false,
        is_cut,
        index: None,
        extras,
    }
}

fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    let others = |fields| only(fields, |name, value| !KNOWN.contains(&name) && !value.is_null());
    ProviderExtras::new(FACTS.name, json.as_object().map(others).unwrap_or_default())
}
