//! Reads and writes calls among content blocks.

use super::FACTS;
use crate::call::WireCall;
use crate::fields::{text, unknown};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// The fields with a counterpart in [`ToolCall`](toolkit_core::call::ToolCall). All other fields, such as
/// `caller` and `toolset_name`, become provider extras.
const KNOWN: [&str; 4] = ["type", "id", "name", "input"];

/// Returns whether a content block is a tool call that the program has to run. Calls of tools that the service runs
/// itself (`server_tool_use`) are not.
///
/// A block without a type counts as a damaged call, so that no call is lost.
pub(super) fn is_call(block: &Value) -> bool {
    match block.get("type") {
        Some(Value::String(kind)) => kind == "tool_use",
        _ => true,
    }
}

/// Parses a call from a block `{type: "tool_use", id, name, input}`. `is_cut` is `true` if the response was cut off at
/// this block. Some servers send a string as `input`, and the string is kept unchanged.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let call = WireCall::new(json, json.get("id"), text(json, "name"), json.get("input"), extras);
    WireCall { is_cut, ..call }
}

fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    ProviderExtras::new(FACTS.name, unknown(json, &KNOWN))
}
