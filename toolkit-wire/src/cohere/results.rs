//! Encodes and parses results as tool messages.

use super::Cohere;
use super::history::{MEDIA, image, text_part};
use crate::WireError;
use crate::codec::ResultCodec;
use crate::fields::{required, text};
use crate::results::{json_content, listed, output_text, result_text};
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};

impl ResultCodec for Cohere {
    /// Encodes one `tool` message for each result. All images follow in one user message.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        let messages = results.iter().zip(ids).map(|(result, id)| {
            let content = match &result.outcome {
                Ok(output) => content(output),
                Err(error) => error.message().into(),
            };
            json!({"role": "tool", "tool_call_id": id, "content": content})
        });
        let mut messages: Vec<Value> = messages.collect();
        let contents =
            results.iter().flat_map(|result| result.outcome.as_ref().map_or(&[][..], ToolOutput::content));
        let images: Vec<Value> = contents.filter_map(image).collect();
        if !images.is_empty() {
            let parts: Vec<Value> =
                [text_part("The images of the tool results.")].into_iter().chain(images).collect();
            messages.push(json!({"role": "user", "content": parts}));
        }
        messages
    }

    /// Parses the `tool` messages of a history, or a single `tool` message. The API has no mark for errors,
    /// so every result is parsed as an output.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let messages = listed(payload, "a message or a list of messages")?;
        let messages = messages.into_iter().filter(|(_, message)| text(message, "role") == "tool");
        let parse = |(path, message): (String, &Value)| {
            let id = required(message, &path, "tool_call_id", "the id of a call")?;
            let output = match message.get("content") {
                None | Some(Value::Null) => ToolOutput::text(""),
                Some(Value::String(text)) => ToolOutput::text(text.as_str()),
                Some(Value::Array(parts)) => ToolOutput::new(parts.iter().map(parse_part).collect()),
                Some(value) => json_content(value).into(),
            };
            Ok(ToolResult::new(id.into(), "", Ok(output)))
        };
        messages.map(parse).collect()
    }
}

/// Encodes a tool output. JSON objects become documents, which the model can cite. If the output has no JSON object,
/// the content is a string.
fn content(output: &ToolOutput) -> Value {
    if !output.content().iter().any(|content| document(content).is_some()) {
        return output_text(output, |content| result_text(&MEDIA, content)).into();
    }
    let message = (!output.message().is_empty()).then(|| text_part(output.message()));
    let part = |content| document(content).unwrap_or_else(|| text_part(&result_text(&MEDIA, content)));
    output.content().iter().map(part).chain(message).collect()
}

fn document(content: &Content) -> Option<Value> {
    match content {
        Content::Json(json) => {
            let data = Some(json.to_value()).filter(Value::is_object)?;
            Some(json!({"type": "document", "document": {"data": data}}))
        }
        _ => None,
    }
}

fn parse_part(part: &Value) -> Content {
    match (part.get("text"), part.pointer("/document/data")) {
        (Some(Value::String(text)), _) | (_, Some(Value::String(text))) => Content::Text(text.clone()),
        (_, Some(data)) => json_content(data),
        _ => json_content(part),
    }
}
