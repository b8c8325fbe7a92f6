//! Calls among the content blocks, read and written.

use super::{FORMAT, NAMES};
use crate::call::{self, Fields, WireCall};
use crate::history;
use serde_json::Value;
use toolkit_core::call::{ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;

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
    let fields = json.as_object().into_iter().flatten();
    let others = fields.filter(|(name, value)| !KNOWN.contains(&name.as_str()) && !value.is_null());
    WireCall {
        json,
        id: call::id(json.get("id")),
        name: call::text(json, "name"),
        arguments: call::arguments(json.get("input"), is_cut),
        index: None,
        extras: ProviderExtras::new(
            FORMAT,
            others.map(|(name, value)| (name.clone(), value.clone())).collect(),
        ),
    }
}

/// Writes a received call for the next request. Unknown fields stay, except `null`, which is how a client
/// writes that there is none, and which the service refuses.
pub(super) fn write(call: &WireCall<'_>, id: String, names: &WireNames) -> Value {
    let mut block = call.json.as_object().cloned().unwrap_or_default();
    block.retain(|_, value| !value.is_null());
    fill(&mut block, id, names.spell(call.name), call::object(call.json.get("input"), &call.arguments));
    block.into()
}

pub(super) fn encode(call: &ToolCall, id: String, names: &WireNames) -> Value {
    let mut block = Fields::new();
    fill(&mut block, id, names.spell(&call.name), call::object(None, call.arguments.as_str()));
    for (name, value) in call.extras.of(FORMAT).into_iter().flatten() {
        block.entry(name.as_str()).or_insert_with(|| value.clone());
    }
    block.into()
}

fn fill(block: &mut Fields, id: String, name: &str, input: Value) {
    block.insert("type".to_owned(), "tool_use".into());
    block.insert("id".to_owned(), id.into());
    block.insert("name".to_owned(), history::name(NAMES, name).into());
    block.insert("input".to_owned(), input);
}
