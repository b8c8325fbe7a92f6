//! Encodes results as tool messages.

use super::history::{MEDIA, image, message};
use super::{FACTS, Ollama, call};
use crate::codec::ResultCodec;
use crate::history;
use crate::results::{output_text, result_text};
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::ToolOutput;

impl ResultCodec for Ollama {
    /// Encodes one `tool` message for each result. All images follow in one user message.
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
}

fn tool_message(result: &ToolResult, id: &str, names: &WireNames) -> Value {
    let text = match &result.outcome {
        Ok(output) => output_text(output, |content| result_text(&MEDIA, content)),
        Err(error) => Cow::Borrowed(error.message()),
    };
    // Results in the histories of other programs may have no name, and the server does not require one.
    let name = match result.name.as_str() {
        "" => Cow::Borrowed(""),
        name => history::name(FACTS.names, names.spell(name)),
    };
    message(&name, call::sendable_id(id), &text)
}
