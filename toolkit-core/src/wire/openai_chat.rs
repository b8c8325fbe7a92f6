//! OpenAI Chat Completions.

use crate::call::{ToolCall, ToolChoice};
use crate::error::WireError;
use crate::name::{NameRule, WireNames};
use crate::result::ToolResult;
use crate::tool::ToolDefinition;
use serde_json::{Value, json};

pub(super) const NAMES: NameRule = NameRule { max_length: 64, punctuation: "_-" };

pub(super) fn encode_definition(definition: &ToolDefinition, names: &WireNames) -> Value {
    json!({"type": "function", "function": {
        "name": names.spell(definition.name.as_str()),
        "description": definition.description,
        "parameters": definition.parameters,
    }})
}
pub(super) fn encode_choice(_choice: &ToolChoice, _names: &WireNames) -> Value {
    Value::Null
}
pub(super) fn parse_choice(_choice: &Value, _names: &WireNames) -> Result<ToolChoice, WireError> {
    Err(WireError::new("", ""))
}
pub(super) fn parse_calls(_payload: &Value) -> Result<Vec<ToolCall>, WireError> {
    Err(WireError::new("", ""))
}
pub(super) fn assistant_messages(_payload: &Value) -> Result<Vec<Value>, WireError> {
    Err(WireError::new("", ""))
}
pub(super) fn encode_results(_results: &[ToolResult]) -> Vec<Value> {
    vec![]
}
