//! OpenAI Responses, as the service and the servers that imitate it really speak it.
//!
//! Shapes: the API reference and its SDK types. Reading is tolerant; writing is what the strictest of
//! those servers accepts.

mod call;
mod choice;
mod definitions;
mod repair;
mod response;
mod results;
mod stream;
#[cfg(test)]
mod tests;

use crate::call::WireCall;
use crate::codec::{Codec, IdRule};
use crate::declaration::{EncodedDefinition, Spelling};
use crate::reading::{Message, Reading};
use crate::stream::decode::StreamDecoder;
use crate::tool_config::EncodedToolConfig;
use crate::{Response, WireError};
use serde_json::{Map, Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolCall, ToolConfig};
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::output::Content;
use toolkit_core::tool::ToolDefinition;
use toolkit_schema::SchemaDialect;

pub(crate) const FORMAT: &str = "openai_responses";
pub(crate) const ALIASES: &[&str] = &["openai-responses", "open_responses", "open-responses"];

/// `^[a-zA-Z0-9_-]{1,64}$`, from the API reference.
pub(crate) const NAMES: NameRule = NameRule::DASHES;

/// The service takes a `call_id` of at most 64 characters, and in ids letters, digits, `_` and `-` only.
const IDS: NameRule = NameRule { max_length: 64, punctuation: "_-", letter_first: false };

#[derive(Debug)]
pub(crate) struct OpenAiResponses;

impl Codec for OpenAiResponses {
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

    fn read<'a>(&self, payload: &'a Value) -> Result<Reading<'a>, WireError> {
        response::read(payload)
    }

    fn describe(&self, reading: &Reading<'_>, response: &mut Response) {
        response::describe(reading, response);
    }

    fn id_rule(&self) -> Option<IdRule> {
        Some(IdRule { rule: IDS, is_strict: true })
    }

    fn write_call(&self, call: &WireCall<'_>, id: String, names: &WireNames) -> Value {
        let mut item = call::write(call, id, names);
        response::strip_refused(&mut item);
        Value::Object(item)
    }

    /// An item with neither a type nor a role, no server accepts.
    fn write_part(&self, item: &Value) -> Option<Value> {
        let item = item.as_object().filter(|item| call::kind(item).is_some() || item.contains_key("role"));
        let mut item = item?.clone();
        response::strip_refused(&mut item);
        Some(Value::Object(item))
    }

    fn write_message(&self, message: &Message<'_>, mut items: Vec<Value>) -> Vec<Value> {
        // A turn that was cut while the model was thinking: reasoning "without its required following
        // item" is refused.
        while message.is_whole && items.last().is_some_and(|item| response::is_kind(item, "reasoning")) {
            items.pop();
        }
        items
    }

    fn encode_call(&self, call: &ToolCall, id: String, names: &WireNames) -> Value {
        call::encode(call, id, names)
    }

    /// The text is an item of its own, in the short form, because the long one wants an id.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text).filter(|text| !text.is_empty());
        let text = text.map(|text| json!({"type": "message", "role": "assistant", "content": text}));
        text.into_iter().chain(calls).collect()
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        let parts: Vec<Value> = contents.iter().map(results::content_part).collect();
        json!({"type": "message", "role": "user", "content": parts})
    }

    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        results.iter().zip(ids).map(|(result, id)| results::encode_result(result, id)).collect()
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
