//! OpenAI Chat Completions, as the service and the many servers that imitate it really speak it.
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

use crate::call::{Fields, WireCall};
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

pub(crate) const FORMAT: &str = "openai_chat";
pub(crate) const ALIASES: &[&str] = &["openai-chat"];

/// `^[a-zA-Z0-9_-]{1,64}$`, from the API reference.
pub(crate) const NAMES: NameRule = NameRule::DASHES;

/// The ids that OpenAI itself accepts, on demand; it refuses more than 40 characters.
///
/// Otherwise the endpoint that made an id gets it back to the character, because some keep state in it
/// (`functions.add:0` of Kimi, the thought signature that LiteLLM appends).
const IDS: NameRule = NameRule { max_length: 40, punctuation: "_-", letter_first: false };

#[derive(Debug)]
pub(crate) struct OpenAiChat;

impl Codec for OpenAiChat {
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
        Some(IdRule { rule: IDS, is_strict: false })
    }

    fn write_call(&self, call: &WireCall<'_>, id: String, names: &WireNames) -> Value {
        call::write(call, id, names)
    }

    fn write_part(&self, _part: &Value) -> Option<Value> {
        None
    }

    fn write_message(&self, message: &Message<'_>, calls: Vec<Value>) -> Vec<Value> {
        let mut fields = message.fields.cloned().unwrap_or_default();
        fields.insert("role".to_owned(), "assistant".into());
        // Now among the calls if it was one; `null`, which some servers write, is refused in a request.
        fields.shift_remove("function_call");
        if calls.is_empty() {
            // Neither an empty list nor `null` is accepted back.
            fields.shift_remove("tool_calls");
            if is_silent(&fields) {
                fields.insert("content".to_owned(), "".into());
            }
        } else {
            fields.entry("content").or_insert(Value::Null);
            fields.insert("tool_calls".to_owned(), calls.into());
        }
        vec![Value::Object(fields)]
    }

    fn encode_call(&self, call: &ToolCall, id: String, names: &WireNames) -> Value {
        call::encode(call, id, names)
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        // The service refuses an empty list of calls.
        vec![match (text, calls.is_empty()) {
            (text, true) => json!({"role": "assistant", "content": text}),
            ("", false) => json!({"role": "assistant", "content": null, "tool_calls": calls}),
            (text, false) => json!({"role": "assistant", "content": text, "tool_calls": calls}),
        }]
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        results::encode_user(contents)
    }

    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        results::encode_results(results, ids, names)
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

/// Whether a message without calls says nothing; it must say something, if only an empty text.
fn is_silent(fields: &Fields) -> bool {
    ["content", "refusal", "audio"].iter().all(|name| fields.get(*name).is_none_or(Value::is_null))
}
