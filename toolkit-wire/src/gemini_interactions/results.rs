//! Encodes and parses results as steps.

use super::GeminiInteractions;
use super::call::{is_call, read};
use super::history::result;
use super::media::{self, block};
use crate::codec::ResultCodec;
use crate::fields::{is_true, required, text};
use crate::results::{json_content, listed, output_text, unsendable};
use crate::{WireError, history};
use serde_json::{Value, json};
use std::collections::HashMap;
use toolkit_core::name::WireNames;
use toolkit_core::output::ToolOutput;
use toolkit_core::{ErrorKind, ToolError, ToolResult};

impl ResultCodec for GeminiInteractions {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        let steps = results.iter().zip(ids).map(|(given, id)| {
            let name = history::name(super::FACTS.names, names.spell(&given.name));
            match &given.outcome {
                Ok(output) => result(id, &name, output_value(output), false),
                Err(error) => result(id, &name, error.message().into(), true),
            }
        });
        steps.collect()
    }

    /// Parses the results among steps. If a result has no name, and the payload also contains the call of the
    /// result, the result gets the tool name from the call.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let mut results = Vec::new();
        let mut names = HashMap::new();
        for (path, step) in listed(payload, "a step or a list of steps")? {
            if is_call(step) {
                let call = read(step, false);
                names.extend(call.id.map(|id| (id.into_owned(), call.name)));
            } else if text(step, "type") == "function_result" {
                let id = required(step, &path, "call_id", "the id of a call")?;
                let name = match text(step, "name") {
                    "" => names.get(id).copied().unwrap_or_default(),
                    name => name,
                };
                results.push(ToolResult::new(id.into(), name, parse_outcome(step)));
            }
        }
        Ok(results)
    }
}

/// Encodes a tool output as text, or as a list of content blocks if the output contains media items.
///
/// JSON is sent as text, because the service stores each number in a JSON value as a double.
fn output_value(output: &ToolOutput) -> Value {
    if !output.content().iter().any(|content| media::media(content).is_some()) {
        return output_text(output, unsendable).into();
    }
    let message = (!output.message().is_empty()).then(|| json!({"type": "text", "text": output.message()}));
    output.content().iter().map(block).chain(message).collect()
}

fn parse_outcome(step: &Value) -> Result<ToolOutput, ToolError> {
    let output = match step.get("result") {
        None | Some(Value::Null) => ToolOutput::text(""),
        Some(Value::String(text)) => ToolOutput::text(text.as_str()),
        Some(Value::Array(blocks)) => ToolOutput::new(blocks.iter().map(media::content).collect()),
        Some(value) => json_content(value).into(),
    };
    match is_true(step, "is_error") {
        true => Err(ToolError::new(ErrorKind::Failed, output.to_text())),
        false => Ok(output),
    }
}
