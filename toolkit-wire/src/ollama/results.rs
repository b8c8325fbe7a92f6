//! Results as tool messages.

use super::history::{entries, image, message};
use super::{FACTS, Ollama, call};
use crate::codec::ResultCodec;
use crate::fields::text;
use crate::pairing::{Entry, Pairing};
use crate::results::{json_content, listed, output_text, unsendable};
use crate::{WireError, history, ids};
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

    /// Parses the `tool` messages of a history, or one of them. A result without an id gets the one that
    /// [`parse_calls`](crate::ApiFormat::parse_calls) gives its call, else one of its own.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let mut pairing = Pairing::default();
        let (mut call_ids, mut found) = (Vec::new(), Vec::new());
        for (_, item) in listed(payload, "a message or a list of messages")? {
            pairing.begin_turn();
            let mut calls = Vec::new();
            for entry in entries(item) {
                match entry {
                    Entry::Call(key, json) => calls.push((key, json)),
                    Entry::Result(key, json) => {
                        let given = key.id.as_deref().map(CallId::from);
                        let call: Option<&CallId> =
                            pairing.result(key).and_then(|number| call_ids.get(number));
                        found.push((json, given.or_else(|| call.cloned())));
                    }
                }
            }
            call_ids.extend(ids::complete(calls.iter().map(|(key, json)| (*json, key.id.as_deref()))));
            for (key, _) in calls {
                pairing.call(key);
            }
        }
        let ids = ids::complete(found.iter().map(|(json, id)| (*json, id.as_ref().map(CallId::as_str))));
        Ok(found.iter().zip(ids).map(|((json, _), id)| parse_result(json, id)).collect())
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
