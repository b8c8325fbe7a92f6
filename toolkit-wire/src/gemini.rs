//! `generateContent` of Google's Gemini, in the Gemini API and in Vertex AI.
//!
//! Shapes: the API reference and its SDK types. The service reads both spellings of a field
//! (`functionCall` and `function_call`), and so does this room. What is written is spelled as the
//! reference spells it, except `function_declarations`, which is how the tools of this format are known.

mod answers;
mod calls;
mod choice;
mod definitions;
mod part;
mod partial;
mod repair;
mod response;
mod results;
mod said;
mod schema;
mod spelling;
mod stream;
#[cfg(test)]
mod tests;

use super::ApiFormat;
use super::api::Api;
use super::declaration::{EncodedDefinition, Spelling};
use super::stream::Accumulate;
use super::tool_config::EncodedToolConfig;
use super::writer::HistoryWriter;
use crate::WireError;
use serde_json::{Map, Value};
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolCall, ToolConfig};
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::output::Content;
use toolkit_core::tool::ToolDefinition;
use toolkit_schema::SchemaDialect;

/// Letters, digits, `_`, `.`, `:` and `-`, at most 128, from the API reference; the first is a letter or `_`.
pub(super) const NAMES: NameRule = NameRule::DOTS;

/// Whose extras these are.
const FORMAT: &str = ApiFormat::Gemini.name();

pub(super) struct Gemini;

impl Api for Gemini {
    fn frame(&self) -> (&'static str, &'static str) {
        (r#"[{"function_declarations":["#, "]}]")
    }

    fn dialect(&self, _strict: bool, json_schema: bool) -> SchemaDialect {
        if json_schema { SchemaDialect::JsonSchema } else { SchemaDialect::Gemini }
    }

    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition {
        definitions::encode_definition(definition, how)
    }

    fn parse_definitions(&self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        definitions::parse_definitions(payload)
    }

    fn hosted_tools(&self, payload: &Value) -> Result<Vec<Value>, WireError> {
        definitions::hosted_tools(payload)
    }

    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        choice::encode_tool_config(wanted, names)
    }

    fn parse_tool_config(
        &self,
        request: &Map<String, Value>,
        names: &WireNames,
    ) -> Result<ToolConfig, WireError> {
        choice::parse_tool_config(request, names)
    }

    fn parse_calls(&self, payload: &Value) -> Result<Vec<ToolCall>, WireError> {
        calls::parse_calls(payload)
    }

    fn assistant_messages(&self, payload: &Value, how: &HistoryWriter<'_>) -> Result<Vec<Value>, WireError> {
        calls::assistant_messages(payload, how.names)
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        said::encode_user(contents)
    }

    fn encode_assistant(&self, text: &str, calls: &[ToolCall], how: &HistoryWriter<'_>) -> Vec<Value> {
        said::encode_assistant(text, calls, how.names)
    }

    fn encode_calls(&self, calls: &[ToolCall], how: &HistoryWriter<'_>) -> Vec<Value> {
        calls::encode_calls(calls, how.names)
    }

    fn encode_results(&self, results: &[ToolResult], how: &HistoryWriter<'_>) -> Vec<Value> {
        results::encode_results(results, how.names)
    }

    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        answers::parse_results(payload)
    }

    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        repair::repair_history(history)
    }

    fn accumulator(&self) -> Box<dyn Accumulate> {
        Box::<stream::Stream>::default()
    }
}
