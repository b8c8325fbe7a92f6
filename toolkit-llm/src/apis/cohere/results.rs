//! Encodes results as tool messages.

use super::Cohere;
use super::history::{MEDIA, image, text_part};
use crate::codec::ResultCodec;
use crate::results::{output_text, result_text};
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};

impl ResultCodec for Cohere {
    /// Encodes one `tool` message for each result. All images follow in one user message.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        let mut messages: Vec<Value> =
            results.iter().zip(ids).map(|(result, id)| tool_message(result, id)).collect();
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
}

fn tool_message(result: &ToolResult, id: &str) -> Value {
    let content = match &result.outcome {
        Ok(output) => content(output),
        Err(error) => error.message().into(),
    };
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

/// Encodes an output. JSON objects become documents, which the model can cite. If the output has no JSON
/// object, the content is a string.
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
