//! Results read back from messages.

use super::call::WireCall;
use super::media;
use super::response::is_block;
use crate::WireError;
use crate::path::{element, field};
use serde_json::Value;
use std::collections::HashMap;
use toolkit_core::ToolResult;
use toolkit_core::output::ToolOutput;
use toolkit_core::{ErrorKind, ToolError};

/// The results of a message, of one block, or of a list of either. The tool's name is that of the
/// call, if the call stands in the list too.
pub(super) fn parse_results(payload: &Value) -> Result<Vec<ToolResult>, WireError> {
    let items: Vec<(String, &Value)> = match payload {
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (element("", index), item)).collect()
        }
        Value::Object(_) => vec![(String::new(), payload)],
        _ => return Err(WireError::new("", "a message with results, a result, or a list of them")),
    };
    let mut results = Vec::new();
    let mut names = HashMap::new();
    for (path, item) in items {
        for (path, block) in blocks(item, path)? {
            match block.get("type").and_then(Value::as_str) {
                Some("tool_use") => {
                    let call = WireCall::new(block);
                    names.extend(call.id().map(|id| (id.into_owned(), call.name())));
                }
                Some("tool_result") => {
                    let mut result = parse_result(block, &path)?;
                    result.position = results.len();
                    let name = names.get(result.call_id.as_str()).copied();
                    result.name = name.unwrap_or_default().to_owned();
                    results.push(result);
                }
                _ => {}
            }
        }
    }
    Ok(results)
}

/// The blocks of a message, or the block itself.
fn blocks(item: &Value, path: String) -> Result<Vec<(String, &Value)>, WireError> {
    if is_block(item) {
        return Ok(vec![(path, item)]);
    }
    match item.get("role").and_then(Value::as_str) {
        Some("user" | "assistant" | "system") => {}
        // Those of other APIs hold results that would be lost here.
        _ => return Err(WireError::new(field(&path, "role"), "`user`, which marks messages with results")),
    }
    let path = field(&path, "content");
    let blocks = item.get("content").and_then(Value::as_array).into_iter().flatten().enumerate();
    Ok(blocks.map(|(index, block)| (element(&path, index), block)).collect())
}

fn parse_result(block: &Value, path: &str) -> Result<ToolResult, WireError> {
    let Some(id) = block.get("tool_use_id").and_then(Value::as_str) else {
        return Err(WireError::new(field(path, "tool_use_id"), "the id of a call"));
    };
    let output = match block.get("content") {
        None | Some(Value::Null) => ToolOutput::default(),
        Some(Value::String(text)) => ToolOutput::text(text.as_str()),
        Some(Value::Array(blocks)) => ToolOutput::new(blocks.iter().map(media::content).collect()),
        Some(_) => return Err(WireError::new(field(path, "content"), "a text or a list of content blocks")),
    };
    let outcome = match block.get("is_error") {
        None | Some(Value::Null | Value::Bool(false)) => Ok(output),
        Some(Value::Bool(true)) => Err(ToolError::new(ErrorKind::Failed, output.to_text())),
        Some(_) => return Err(WireError::new(field(path, "is_error"), "true or false")),
    };
    Ok(ToolResult::new(id.into(), "", outcome))
}
