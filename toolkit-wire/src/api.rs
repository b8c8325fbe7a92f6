//! What every API's room can do.

use super::declaration::{EncodedDefinition, Spelling};
use super::stream::Accumulate;
use super::tool_config::EncodedToolConfig;
use super::writer::HistoryWriter;
use crate::WireError;
use serde_json::{Map, Value};
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolCall, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;
use toolkit_core::tool::ToolDefinition;
use toolkit_schema::SchemaDialect;

/// One API. [`ApiFormat`](super::ApiFormat) documents what the methods promise.
pub(super) trait Api: Sync {
    /// What stands before and after the definitions in the list of tools.
    fn frame(&self) -> (&'static str, &'static str) {
        ("[", "]")
    }

    /// What a schema may say: whether the tool is strict, whether plain JSON Schema is wanted.
    fn dialect(&self, strict: bool, json_schema: bool) -> SchemaDialect;

    /// Under which key of a definition's `meta` the fields stand that only this API knows.
    fn own_fields(&self) -> Option<&'static str> {
        None
    }

    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition;

    fn parse_definitions(&self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError>;

    /// The tools of a payload that are not ours to run, as they came.
    fn hosted_tools(&self, payload: &Value) -> Result<Vec<Value>, WireError>;

    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig;

    fn parse_tool_config(
        &self,
        request: &Map<String, Value>,
        names: &WireNames,
    ) -> Result<ToolConfig, WireError>;

    fn parse_calls(&self, payload: &Value) -> Result<Vec<ToolCall>, WireError>;

    fn assistant_messages(&self, payload: &Value, how: &HistoryWriter<'_>) -> Result<Vec<Value>, WireError>;

    fn encode_user(&self, contents: &[Content]) -> Value;

    fn encode_assistant(&self, text: &str, calls: &[ToolCall], how: &HistoryWriter<'_>) -> Vec<Value>;

    fn encode_calls(&self, calls: &[ToolCall], how: &HistoryWriter<'_>) -> Vec<Value>;

    fn encode_results(&self, results: &[ToolResult], how: &HistoryWriter<'_>) -> Vec<Value>;

    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError>;

    fn repair_history(&self, history: Vec<Value>) -> Vec<Value>;

    fn accumulator(&self) -> Box<dyn Accumulate>;
}
