//! Reads and writes calls among content blocks.

use super::FACTS;
use crate::call::WireCall;
use crate::fields::{text, unknown};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// The fields with a counterpart in [`ToolCall`](toolkit_core::call::ToolCall). All other fields, such as
/// `caller` and `toolset_name`, become provider extras.
const KNOWN: [&str; 4] = ["type", "id", "name", "input"];

/// Returns whether a content block is a call for the program. Calls of tools run by the service itself
/// (`server_tool_use`) are not for the program.
///
/// A block without a type is read as a damaged call. Blocks of other types are useless without their type,
/// but a call must not be lost.
pub(super) fn is_call(block: &Value) -> bool {
    match block.get("type") {
        Some(Value::String(kind)) => kind == "tool_use",
        _ => true,
    }
}

/// Reads a block `{type: "tool_use", id, name, input}`. If generation stopped early at this block, `is_cut`
/// is `true`. Some servers send a string as `input`. The string is kept unchanged.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let call = WireCall::new(json, json.get("id"), text(json, "name"), json.get("input"), extras);
    WireCall { is_cut, ..call }
}

fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    ProviderExtras::new(FACTS.name, unknown(json, &KNOWN))
}
