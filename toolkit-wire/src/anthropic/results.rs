//! Encodes and parses results as content blocks.

use super::media::{self, blocks, text_block};
use super::response::is_block;
use super::{Anthropic, FACTS, call};
use crate::WireError;
use crate::codec::ResultCodec;
use crate::fields::{Fields, field, flag, object, required, set, text};
use crate::repair::user_message;
use crate::results::{error_message, is_blank, listed, listed_blocks};
use serde_json::Value;
use std::collections::HashMap;
use toolkit_core::call::ProviderExtras;
use toolkit_core::name::WireNames;
use toolkit_core::output::ToolOutput;
use toolkit_core::{ErrorKind, ToolError, ToolResult};

/// The provider extra for the fields of a received result. A result also has the extras of its call, and the separate
/// name keeps the cache breakpoint of the call out of the result.
const KEPT: &str = "tool_result";
const CACHE: &str = "cache_control";

impl ResultCodec for Anthropic {
    /// Encodes all results in one user message, because the service requires all of them in the message after
    /// the calls. The message contains nothing else, because the service requires this for calls made by its
    /// code execution.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        let blocks = results.iter().zip(ids).map(|(result, id)| encode_result(result, id));
        user_message("content", blocks.collect())
    }

    /// Parses the results in a message, a block, or a list of messages or blocks. If the payload also
    /// contains the call of a result, the result gets the tool name from the call.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let items = listed(payload, "a message with results, a result, or a list of them")?;
        let mut results = Vec::new();
        let mut names = HashMap::new();
        for (path, item) in items {
            for (path, block) in listed_blocks(item, path, is_block)? {
                match text(block, "type") {
                    "tool_use" => {
                        let call = call::read(block, false);
                        names.extend(call.id.map(|id| (id.into_owned(), call.name)));
                    }
                    "tool_result" => {
                        let id = required(block, &path, "tool_use_id", "the id of a call")?;
                        let name = names.get(id).copied().unwrap_or_default();
                        let mut result = ToolResult::new(id.into(), name, parse_outcome(block, &path)?);
                        result.extras = kept(block);
                        results.push(result);
                    }
                    _ => {}
                }
            }
        }
        Ok(results)
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
    for (name, value) in result.extras.get(FACTS.name, KEPT).and_then(Value::as_object).into_iter().flatten()
    {
        set(&mut block, name, value.clone());
    }
    block.into()
}

/// Returns the fields of a received result to send back to the API. The only such field is the cache
/// breakpoint.
fn kept(block: &Value) -> ProviderExtras {
    match block.get(CACHE).filter(|breakpoint| !breakpoint.is_null()) {
        Some(breakpoint) => {
            let fields = Fields::from_iter([(CACHE.to_owned(), breakpoint.clone())]);
            ProviderExtras::new(FACTS.name, Fields::from_iter([(KEPT.to_owned(), fields.into())]))
        }
        None => ProviderExtras::default(),
    }
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

fn parse_outcome(block: &Value, path: &str) -> Result<Result<ToolOutput, ToolError>, WireError> {
    let output = match block.get("content") {
        None | Some(Value::Null) => ToolOutput::default(),
        Some(Value::String(text)) => ToolOutput::text(text.as_str()),
        Some(Value::Array(blocks)) => ToolOutput::new(blocks.iter().map(media::content).collect()),
        Some(_) => return Err(WireError::new(field(path, "content"), "a text or a list of content blocks")),
    };
    let is_error = flag(object(block, path, "a result")?, path, "is_error")?.unwrap_or_default();
    Ok(if is_error { Err(ToolError::new(ErrorKind::Failed, output.to_text())) } else { Ok(output) })
}
