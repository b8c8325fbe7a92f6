//! Reads the calls among content blocks.

use super::FACTS;
use crate::call::{self, WireCall};
use crate::fields::{only, text};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// Returns whether a content block is a call for the program. The service runs calls of the type
/// `server_tool_use` itself.
pub(super) fn is_call(block: &Value) -> bool {
    block.get("toolUse").is_some_and(|call| text(call, "type") != "server_tool_use")
}

/// Reads a block `{toolUse: {toolUseId, name, input}}`. If generation stopped early at this block, `is_cut` is
/// `true`.
pub(super) fn read(json: &Value, is_cut: bool) -> WireCall<'_> {
    let call = json.get("toolUse").unwrap_or(&Value::Null);
    WireCall {
        json,
        id: call::id(call.get("toolUseId")),
        name: text(call, "name"),
        input: call.get("input"),
        is_custom: false,
        is_cut,
        index: None,
        members: &[],
        extras,
    }
}

/// Returns the unknown fields of a call, to be sent back to the service.
fn extras(json: &Value, _is_custom: bool) -> ProviderExtras {
    let unknown =
        |name: &str, value: &Value| !["toolUseId", "name", "input"].contains(&name) && !value.is_null();
    let fields = json.get("toolUse").and_then(Value::as_object).map(|fields| only(fields, unknown));
    ProviderExtras::new(FACTS.name, fields.unwrap_or_default())
}
