//! Encodes and parses results as steps.

use super::call::{is_call, read};
use super::history::result;
use super::media::{self, block};
use super::{FACTS, GeminiInteractions};
use crate::codec::ResultCodec;
use crate::fields::{is_true, required, text};
use crate::results::{as_received, json_content, keep, listed, output_text, unsendable};
use crate::{WireError, history};
use serde_json::{Value, json};
use std::collections::HashMap;
use toolkit_core::name::WireNames;
use toolkit_core::output::ToolOutput;
use toolkit_core::{ErrorKind, ToolError, ToolResult};

impl ResultCodec for GeminiInteractions {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        results.iter().zip(ids).map(|(given, id)| step(given, id, names)).collect()
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
                let result = ToolResult::new(id.into(), name, parse_outcome(step));
                let written = self::step(&result, id, &WireNames::default());
                results.push(keep(result, FACTS.name, step, &written));
            }
        }
        Ok(results)
    }
}

fn step(given: &ToolResult, id: &str, names: &WireNames) -> Value {
    let name = history::name(FACTS.names, names.spell(&given.name));
    let step = match &given.outcome {
        Ok(output) => result(id, &name, output_value(output), false),
        Err(error) => result(id, &name, error.message().into(), true),
    };
    as_received(&GeminiInteractions, FACTS.name, &["/call_id", "/name"], given, step)
}

/// Encodes an output as text. An output with media items becomes a list of content blocks.
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
    if is_true(step, "is_error") {
        Err(ToolError::new(ErrorKind::Failed, output.to_text()))
    } else {
        Ok(output)
    }
}
