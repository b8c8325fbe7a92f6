//! `generateContent` of Google's Gemini.

use super::api::Api;
use super::declaration::{EncodedDefinition, Spelling};
use super::stream::Accumulate;
use crate::call::{ToolCall, ToolUse};
use crate::error::WireError;
use crate::name::{NameRule, WireNames};
use crate::result::ToolResult;
use crate::schema::SchemaDialect;
use crate::tool::ToolDefinition;
use serde_json::{Map, Value};

/// Letters, digits, `_`, `.`, `:` and `-`, at most 128, from the API reference; the first is a letter or `_`.
pub(super) const NAMES: NameRule = NameRule { max_length: 128, punctuation: "_.:-" };

pub(super) struct Google;

impl Api for Google {
    fn names(&self) -> NameRule {
        NAMES
    }

    fn dialect(&self, strict: bool, json_schema: bool) -> SchemaDialect {
        if json_schema { SchemaDialect::JsonSchema } else { SchemaDialect::Google }
    }

    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition {
        todo!()
    }

    fn parse_definitions(&self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        todo!()
    }

    fn hosted_tools(&self, payload: &Value) -> Result<Vec<Value>, WireError> {
        todo!()
    }

    fn encode_tool_use(&self, wanted: &ToolUse, names: &WireNames) -> Map<String, Value> {
        todo!()
    }

    fn parse_tool_use(&self, request: &Map<String, Value>, names: &WireNames) -> Result<ToolUse, WireError> {
        todo!()
    }

    fn parse_calls(&self, payload: &Value) -> Result<Vec<ToolCall>, WireError> {
        todo!()
    }

    fn assistant_messages(&self, payload: &Value) -> Result<Vec<Value>, WireError> {
        todo!()
    }

    fn encode_calls(&self, calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
        todo!()
    }

    fn encode_results(&self, results: &[ToolResult]) -> Vec<Value> {
        todo!()
    }

    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        todo!()
    }

    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        todo!()
    }

    fn accumulator(&self) -> Box<dyn Accumulate> {
        todo!()
    }
}
