//! The fields of messages that no API loses.

use serde_json::Value;

/// The fields that are sent to every API, or that describe only the message itself.
pub(super) const FIELDS: [&str; 20] = [
    "role",
    "type",
    "id",
    "index",
    "status",
    "phase",
    "name",
    "content",
    "parts",
    "text",
    "refusal",
    "tool_calls",
    "function_call",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "thinking",
    "thinking_blocks",
    "tool_plan",
    "cache_control",
];

/// Returns whether a value is `null`, `false`, an empty string, or a list or an object of such values.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.iter().all(is_empty),
        Value::Object(fields) => fields.values().all(is_empty),
        _ => false,
    }
}
