//! Writes messages, results and the `tool_choice` for the next request.

use super::{Cohere, FACTS};
use crate::apis::chat_messages::ToolMessages;
use crate::apis::openai::contents::Contents;
use crate::apis::openai::function_call;
use crate::call::outgoing::OutgoingCall;
use crate::call::received::ReceivedMessage;
use crate::codec::HistoryCodec;
use crate::definitions::EncodedToolConfig;
use crate::definitions::tool_config::{ChoiceCodec, without_set};
use crate::facts::media::{IMAGES, MediaKind, MediaRule, MediaTable, Urls};
use crate::history::results::{output_parts, output_text, result_text};
use crate::json::fields::{Fields, set};
use crate::json::texts;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};

/// The accepted media items, from the provider's guide to images.
///
/// Images in tool results are sent in a user message after the results.
pub(super) const MEDIA: MediaTable = MediaTable {
    messages: &[MediaRule { kind: MediaKind::Image, types: IMAGES, urls: Urls::Web }],
    results: &[],
};

impl ChoiceCodec for Cohere {
    fn encode_tool_config(&self, wanted: &ToolConfig, _names: &WireNames) -> EncodedToolConfig {
        let (choice, _) = without_set(&wanted.choice);
        let mut fields = Fields::new();
        if choice != ToolChoice::Auto {
            let mode = if choice == ToolChoice::None { "NONE" } else { "REQUIRED" };
            set(&mut fields, "tool_choice", mode);
        }
        let mut encoded = EncodedToolConfig::new(fields);
        let reason = "the API cannot name tools: the model may call every tool of the request";
        match &wanted.choice {
            ToolChoice::Tool(_) => encoded = encoded.lose("/choice", "tool", reason),
            ToolChoice::Allowed { .. } if choice != ToolChoice::None => {
                encoded = encoded.lose("/choice/allowed/names", "allowed", reason);
            }
            _ => {}
        }
        encoded.without_limit(wanted)
    }
}

impl HistoryCodec for Cohere {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut fields = call.fields(FACTS.name);
        set(&mut fields, "id", call.id);
        set(&mut fields, "type", "function");
        let arguments = call.arguments.into_text();
        function_call(fields, call.name, crate::call::sanitize::arguments(&arguments))
    }

    /// Drops empty fields, and a message without text and calls, which the service refuses.
    fn write_message(&self, message: &ReceivedMessage<'_>, calls: Vec<Value>) -> Vec<Value> {
        let mut fields = message.fields.cloned().unwrap_or_default();
        set(&mut fields, "role", "assistant");
        set(&mut fields, "tool_calls", calls);
        texts::settle(&mut fields, &["content", "tool_plan"]);
        fields.retain(|_, value| !is_empty(value));
        let has_content = fields.contains_key("content") || fields.contains_key("tool_calls");
        if has_content { vec![fields.into()] } else { Vec::new() }
    }

    /// Encodes a user message.
    ///
    /// Only images are accepted, as URLs with `https:` or `data:`.
    fn encode_user(&self, contents: &[Content]) -> Value {
        Contents::new(&MEDIA).encode_user(contents)
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

impl ToolMessages for Cohere {
    fn tool_message(result: &ToolResult, id: &str, _names: &WireNames) -> Value {
        let content = match &result.outcome {
            Ok(output) => result_content(output),
            Err(error) => error.message().into(),
        };
        json!({"role": "tool", "tool_call_id": id, "content": content})
    }
}

/// Encodes JSON objects as documents, which the model can cite, and any other output as a string.
fn result_content(output: &ToolOutput) -> Value {
    if !output.content().iter().any(|content| document(content).is_some()) {
        return output_text(output, |content| result_text(&MEDIA, content)).into();
    }
    output_parts(output, content_part, text_part).into()
}

fn content_part(content: &Content) -> Value {
    match document(content) {
        Some(document) => document,
        None => text_part(&result_text(&MEDIA, content)),
    }
}

fn document(content: &Content) -> Option<Value> {
    let Content::Json(json) = content else { return None };
    let data = json.to_value().ok().filter(Value::is_object)?;
    Some(json!({"type": "document", "document": {"data": data}}))
}
