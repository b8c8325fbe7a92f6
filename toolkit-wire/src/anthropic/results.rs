//! The message that answers the calls.

use super::calls::{is_blank, request_ids};
use super::media::{blocks, text_block};
use super::{FORMAT, Fields};
use serde_json::{Value, json};
use toolkit_core::ToolError;
use toolkit_core::ToolResult;
use toolkit_core::output::ToolOutput;

/// One message of the user with all answers: the service refuses calls that the very next message
/// does not answer. Nothing else stands in it, as answers to calls from code execution require.
pub(super) fn encode_results(results: &[ToolResult]) -> Vec<Value> {
    if results.is_empty() {
        return Vec::new();
    }
    let ids = request_ids(results.iter().map(|result| result.call_id.as_str()));
    let answers: Vec<Value> = results.iter().zip(ids).map(|(result, id)| answer(result, id)).collect();
    vec![json!({"role": "user", "content": answers})]
}

fn answer(result: &ToolResult, id: String) -> Value {
    let mut block = Fields::new();
    block.insert("type".to_owned(), "tool_result".into());
    block.insert("tool_use_id".to_owned(), id.into());
    match &result.outcome {
        Ok(output) => {
            block.insert("content".to_owned(), content(output));
        }
        Err(error) => {
            block.insert("content".to_owned(), error_text(error).into());
            block.insert("is_error".to_owned(), true.into());
        }
    }
    // The one field that a result has in common with its call.
    if let Some(toolset) = result.extras.get(FORMAT, "toolset_name") {
        block.insert("toolset_name".to_owned(), toolset.clone());
    }
    block.into()
}

/// The service refuses an error that says nothing.
fn error_text(error: &ToolError) -> &str {
    if is_blank(error.message()) { "The call failed for an unknown reason." } else { error.message() }
}

/// One text as it is, anything else as blocks. The service refuses blank texts.
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
