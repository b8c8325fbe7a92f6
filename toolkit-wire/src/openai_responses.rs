//! OpenAI Responses, as the service and the servers that imitate it really speak it.
//!
//! Shapes: the API reference and its SDK types. What is read is read tolerantly; what is written is
//! what the strictest of those servers accepts.

mod call;
mod calls;
mod choice;
mod definitions;
mod repair;
mod response;
mod results;
mod said;
mod stream;
#[cfg(test)]
mod tests;

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

/// `^[a-zA-Z0-9_-]{1,64}$`, from the API reference.
pub(super) const NAMES: NameRule = NameRule::DASHES;

/// The service takes a `call_id` of at most 64 characters, and in ids letters, digits, `_` and `-` only.
const IDS: NameRule = NameRule { max_length: 64, punctuation: "_-", letter_first: false };

/// Whose extras are ours: the [name](super::ApiFormat::name) of the format.
const FORMAT: &str = "openai_responses";

pub(super) struct OpenAiResponses;

impl Api for OpenAiResponses {
    fn dialect(&self, strict: bool, _json_schema: bool) -> SchemaDialect {
        if strict { SchemaDialect::OpenAiStrict } else { SchemaDialect::OpenAi }
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

    fn encode_results(&self, results: &[ToolResult], _how: &HistoryWriter<'_>) -> Vec<Value> {
        results::encode_results(results)
    }

    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        results::parse_results(payload)
    }

    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        repair::repair_history(history)
    }

    fn accumulator(&self) -> Box<dyn Accumulate> {
        Box::<stream::Stream>::default()
    }
}
