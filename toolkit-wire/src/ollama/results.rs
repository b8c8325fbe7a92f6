//! Results as tool messages.

use super::history::{entries, image, message};
use super::{FACTS, Ollama, call};
use crate::codec::ResultCodec;
use crate::fields::text;
use crate::pairing::identified;
use crate::results::{json_content, listed, output_text, unsendable};
use crate::{WireError, history};
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::ToolResult;
use toolkit_core::call::CallId;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};

impl ResultCodec for Ollama {
    /// Encodes one `tool` message for each result, and images in one message of the user after them.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        let mut messages: Vec<Value> =
            results.iter().zip(ids).map(|(result, id)| tool_message(result, id, names)).collect();
        let contents =
            results.iter().flat_map(|result| result.outcome.as_ref().map_or(&[][..], ToolOutput::content));
        let images: Vec<&str> = contents.filter_map(image).collect();
        if !images.is_empty() {
            messages.push(
                json!({"role": "user", "content": "The images of the tool results.", "images": images}),
            );
        }
        messages
    }

    /// Parses the `tool` messages of a history, or one of them.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let messages = listed(payload, "a message or a list of messages")?;
        let found = identified(messages.into_iter().map(|(_, message)| entries(message)));
        Ok(found.into_iter().map(|(message, id)| parse_result(message, id)).collect())
    }
}

fn tool_message(result: &ToolResult, id: &str, names: &WireNames) -> Value {
    let text = match &result.outcome {
        Ok(output) => output_text(output, content_text),
        Err(error) => Cow::Borrowed(error.message()),
    };
    let name = history::name(FACTS.names, names.spell(&result.name));
    message(&name, call::sendable_id(id), &text)
}

fn content_text(content: &Content) -> Cow<'_, str> {
    match image(content) {
        Some(_) => {
            Cow::Owned(format!("{} follows in the user message after the tool results", content.to_text()))
        }
        None => unsendable(content),
    }
}

/// Parses a `tool` message. The API marks no errors, so every result is an output.
fn parse_result(message: &Value, id: CallId) -> ToolResult {
    let output = match message.get("content") {
        None | Some(Value::Null) => ToolOutput::text(""),
        Some(Value::String(text)) => ToolOutput::text(text.as_str()),
        Some(value) => json_content(value).into(),
    };
    ToolResult::new(id, text(message, "tool_name"), Ok(output))
}
