//! Reads the calls among content blocks.

use super::FACTS;
use crate::call::WireCall;
use crate::fields::{text, unknown};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// Returns whether a content block is a call for the program. Calls of the type `server_tool_use` are not,
/// because the service runs them itself.
pub(super) fn is_call(block: &Value) -> bool {
    block.get("toolUse").is_some_and(|call| text(call, "type") != "server_tool_use")
}

/// Reads a block `{toolUse: {toolUseId, name, input}}`. If generation stopped early at this block, `is_cut`
/// is `true`.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let call = json.get("toolUse").unwrap_or(&Value::Null);
    let call = WireCall::new(json, call.get("toolUseId"), text(call, "name"), call.get("input"), extras);
    WireCall { is_cut, ..call }
}

/// Returns the unknown fields of a call. They are sent back to the service.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    let call = json.get("toolUse").unwrap_or(&Value::Null);
    ProviderExtras::new(FACTS.name, unknown(call, &["toolUseId", "name", "input"]))
}
