//! Reads the calls among content blocks.

use super::FACTS;
use crate::call::WireCall;
use crate::fields::{text, unknown};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// Returns whether a content block is a tool call that the program has to run. Calls of the type `server_tool_use` are
/// not, because the service runs them itself.
pub(super) fn is_call(block: &Value) -> bool {
    block.get("toolUse").is_some_and(|call| text(call, "type") != "server_tool_use")
}

/// Parses a call from a block `{toolUse: {toolUseId, name, input}}`. `is_cut` is `true` if the response was cut off at
/// this block.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let call = json.get("toolUse").unwrap_or(&Value::Null);
    let call = WireCall::new(json, call.get("toolUseId"), text(call, "name"), call.get("input"), extras);
    WireCall { is_cut, ..call }
}

/// Returns the fields of a call that `ToolCall` cannot express. They are sent back to the service.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    let call = json.get("toolUse").unwrap_or(&Value::Null);
    ProviderExtras::new(FACTS.name, unknown(call, &["toolUseId", "name", "input"]))
}
