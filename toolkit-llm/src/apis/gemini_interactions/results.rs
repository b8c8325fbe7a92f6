//! Encodes results as steps.

use super::history::result;
use super::media::{self, block};
use super::{FACTS, GeminiInteractions};
use crate::codec::ResultCodec;
use crate::history;
use crate::results::{output_text, unsendable};
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::ToolOutput;

impl ResultCodec for GeminiInteractions {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        results.iter().zip(ids).map(|(given, id)| step(given, id, names)).collect()
    }
}

fn step(given: &ToolResult, id: &str, names: &WireNames) -> Value {
    let name = history::name(FACTS.names, names.spell(&given.name));
    match &given.outcome {
        Ok(output) => result(id, &name, output_value(output), false),
        Err(error) => result(id, &name, error.message().into(), true),
    }
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
