//! `generateContent` of Google's Gemini, in the Gemini API and in Vertex AI.
//!
//! Shapes: the API reference and its SDK types. The service reads both spellings of a field
//! (`functionCall` and `function_call`), and so does this codec. Writing follows the reference, except `function_declarations`, which is how the tools of this format are known.

mod call;
mod choice;
mod definitions;
mod partial;
mod repair;
mod response;
mod results;
mod schema;
mod spelling;
mod stream;
#[cfg(test)]
mod tests;

use crate::call::WireCall;
use crate::codec::{Codec, IdRule};
use crate::declaration::{EncodedDefinition, Spelling};
use crate::pairing::user_message;
use crate::reading::{Message, Reading};
use crate::stream::decode::StreamDecoder;
use crate::tool_config::EncodedToolConfig;
use crate::{Response, WireError};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolCall, ToolConfig};
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::output::Content;
use toolkit_core::tool::ToolDefinition;
use toolkit_schema::SchemaDialect;

/// The format's name, under which fields that only this API has are kept.
pub(crate) const FORMAT: &str = "gemini";
pub(crate) const ALIASES: &[&str] = &["google", "google-genai"];

/// Letters, digits, `_`, `.`, `:` and `-`, at most 128, from the API reference; the first is a letter or `_`.
pub(crate) const NAMES: NameRule = NameRule::DOTS;

#[derive(Debug)]
pub(crate) struct Gemini;

impl Codec for Gemini {
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

    fn join<'a>(&self, payload: &'a Value) -> Result<Cow<'a, Value>, WireError> {
        response::join(payload)
    }

    fn read<'a>(&self, payload: &'a Value) -> Result<Reading<'a>, WireError> {
        response::read(payload)
    }

    fn describe(&self, reading: &Reading<'_>, response: &mut Response) {
        response::describe(reading, response);
    }

    fn id_rule(&self) -> Option<IdRule> {
        None
    }

    fn write_call(&self, call: &WireCall<'_>, _id: String, names: &WireNames) -> Value {
        call::write(call, names)
    }

    fn write_part(&self, part: &Value) -> Option<Value> {
        let part = call::without_result(part);
        call::says_something(&part).then(|| part.into())
    }

    /// The service refuses a content without parts.
    fn write_message(&self, message: &Message<'_>, parts: Vec<Value>) -> Vec<Value> {
        if parts.is_empty() {
            return Vec::new();
        }
        let mut fields = message.fields.cloned().unwrap_or_default();
        fields.insert("role".to_owned(), "model".into());
        fields.insert("parts".to_owned(), parts.into());
        vec![fields.into()]
    }

    fn encode_call(&self, call: &ToolCall, _id: String, names: &WireNames) -> Value {
        call::encode(call, names)
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text).filter(|text| !text.is_empty()).map(|text| json!({"text": text}));
        let parts: Vec<Value> = text.into_iter().chain(calls).collect();
        if parts.is_empty() { Vec::new() } else { vec![json!({"role": "model", "parts": parts})] }
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        let part = |content: &Content| match results::media(content) {
            Some(media) => results::media_part(media),
            None => json!({"text": content.to_text()}),
        };
        let mut parts: Vec<Value> = contents.iter().map(part).collect();
        if parts.is_empty() {
            parts.push(json!({"text": ""}));
        }
        json!({"role": "user", "parts": parts})
    }

    /// One content for all results: the service wants as many as there were calls, in their order, and
    /// finds the call of a result without an id by its position.
    fn encode_results(&self, results: &[ToolResult], _ids: &[String], names: &WireNames) -> Vec<Value> {
        user_message("parts", results.iter().map(|result| results::encode_result(result, names)).collect())
    }

    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        results::parse_results(payload)
    }

    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        repair::repair_history(history)
    }

    fn stream(&self) -> Box<dyn StreamDecoder> {
        Box::<stream::Stream>::default()
    }
}
