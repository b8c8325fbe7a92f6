//! Encodes results as content blocks.

use super::media::{blocks, text_block};
use super::{Anthropic, FACTS};
use crate::codec::ResultCodec;
use crate::fields::{Fields, set};
use crate::repair::user_message;
use crate::results::{error_message, is_blank};
use serde_json::Value;
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::ToolOutput;

impl ResultCodec for Anthropic {
    /// Encodes all results in one user message, because the service requires all of them in the message after
    /// the calls. The message contains nothing else, because the service requires this for calls made by its
    /// code execution.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        let blocks = results.iter().zip(ids).map(|(result, id)| encode_result(result, id));
        user_message("content", blocks.collect())
    }
}

pub(super) fn encode_result(result: &ToolResult, id: &str) -> Value {
    let mut block = Fields::new();
    set(&mut block, "type", "tool_result");
    set(&mut block, "tool_use_id", id);
    match &result.outcome {
        Ok(output) => set(&mut block, "content", content(output)),
        Err(error) => {
            set(&mut block, "content", error_message(error));
            set(&mut block, "is_error", true);
        }
    }
    // If a call has the field `toolset_name`, the service expects the field in the result as well.
    if let Some(toolset) = result.extras.get(FACTS.name, "toolset_name") {
        set(&mut block, "toolset_name", toolset.clone());
    }
    block.into()
}

/// Encodes a single text as a string, and any other output as a list of blocks.
///
/// Blank texts are dropped, because the service refuses them.
fn content(output: &ToolOutput) -> Value {
    let message = (!output.message().is_empty()).then(|| text_block(output.message()));
    let mut blocks: Vec<Value> = output.content().iter().flat_map(blocks).chain(message).collect();
    blocks.retain(|block| !text_of(block).is_some_and(is_blank));
    match blocks.as_slice() {
        [] => "".into(),
        [only] if text_of(only).is_some() => text_of(only).into(),
        _ => blocks.into(),
    }
}

fn text_of(block: &Value) -> Option<&str> {
    block.get("text")?.as_str()
}
