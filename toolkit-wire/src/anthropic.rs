//! Anthropic Messages, as the service and the servers that imitate it really speak it.
//!
//! Shapes: the API reference and its SDK types. Reading is tolerant; writing is what the strictest of
//! those servers accepts.

mod call;
mod choice;
mod definitions;
mod media;
mod repair;
mod response;
mod results;
mod stream;
#[cfg(test)]
mod tests;

use crate::call::{self as shared, WireCall};
use crate::codec::{Codec, IdRule};
use crate::declaration::{EncodedDefinition, Spelling};
use crate::pairing::user_message;
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

/// The format's name, under which fields that only this API has are kept.
pub(crate) const FORMAT: &str = "anthropic";
pub(crate) const ALIASES: &[&str] = &[];

/// `^[a-zA-Z0-9_-]{1,128}$`, from the service's error text; 64 before the middle of 2025.
pub(crate) const NAMES: NameRule = NameRule { max_length: 128, punctuation: "_-", letter_first: false };

/// `^[a-zA-Z0-9_-]+$`, from the service's error text; imitators take no more than 64 characters.
const IDS: NameRule = NameRule { max_length: 64, punctuation: "_-", letter_first: false };

#[derive(Debug)]
pub(crate) struct Anthropic;

impl Codec for Anthropic {
    fn dialect(&self, strict: bool, _json_schema: bool) -> SchemaDialect {
        if strict { SchemaDialect::AnthropicStrict } else { SchemaDialect::Anthropic }
    }

    fn own_fields(&self) -> Option<&'static str> {
        Some(FORMAT)
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
        call::write(call, id, names)
    }

    /// Thinking goes back as it came, to the character: it is signed. The service refuses blank texts.
    fn write_part(&self, block: &Value) -> Option<Value> {
        let mut fields = block.as_object()?.clone();
        match shared::text(block, "type") {
            "text" if is_blank(shared::text(block, "text")) => return None,
            // Imitators leave out what they cannot sign, but a request must have the fields.
            "thinking" => {
                for name in ["thinking", "signature"] {
                    fields.entry(name).or_insert_with(|| "".into());
                }
            }
            kind if kind.ends_with("tool_use") => {
                let arguments = shared::arguments(fields.get("input"), false);
                let input = shared::object(fields.get("input"), &arguments);
                fields.insert("input".to_owned(), input);
            }
            _ => {}
        }
        Some(fields.into())
    }

    /// The service knows two fields of a message and refuses all others, also those of its own answers.
    fn write_message(&self, message: &Message<'_>, mut blocks: Vec<Value>) -> Vec<Value> {
        if let Some(Value::String(text)) = message.fields.and_then(|fields| fields.get("content")) {
            return if is_blank(text) {
                Vec::new()
            } else {
                vec![json!({"role": "assistant", "content": text})]
            };
        }
        // The service refuses a message that ends in thinking, as an answer does that was cut off there.
        let is_thinking =
            |block: &Value| matches!(shared::text(block, "type"), "thinking" | "redacted_thinking");
        while blocks.last().is_some_and(is_thinking) {
            blocks.pop();
        }
        assistant(blocks)
    }

    fn encode_call(&self, call: &ToolCall, id: String, names: &WireNames) -> Value {
        call::encode(call, id, names)
    }

    /// The service refuses blanks at the end of a text that nothing follows, too.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text.trim_end()).filter(|text| !text.is_empty()).map(media::text_block);
        assistant(text.into_iter().chain(calls).collect())
    }

    /// The service refuses blank texts, and messages without content.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let mut blocks: Vec<Value> = contents.iter().flat_map(media::blocks).collect();
        blocks.retain(|block| !block["text"].as_str().is_some_and(is_blank));
        if blocks.is_empty() {
            blocks.push(media::text_block("(empty message)"));
        }
        json!({"role": "user", "content": blocks})
    }

    /// One message with all results: the service refuses calls that the very next message does not answer.
    /// Nothing else stands in it, as results of calls from code execution require.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        let blocks = results.iter().zip(ids).map(|(result, id)| results::encode_result(result, id));
        user_message("content", blocks.collect())
    }

    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        results::parse_results(payload)
    }

    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        repair::repair_history(history)
    }

    fn stream(&self) -> Box<dyn StreamDecoder> {
        Box::<stream::MessageStream>::default()
    }
}

fn assistant(blocks: Vec<Value>) -> Vec<Value> {
    if blocks.is_empty() { Vec::new() } else { vec![json!({"role": "assistant", "content": blocks})] }
}

/// Whether the service would take the text for none, and refuse it.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
