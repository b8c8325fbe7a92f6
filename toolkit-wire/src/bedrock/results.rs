//! Encodes and parses results as content blocks.

use super::media::{self, number_documents};
use super::response::is_block;
use super::{Bedrock, FACTS, call};
use crate::WireError;
use crate::codec::ResultCodec;
use crate::fields::{Fields, field, list, required, set, text};
use crate::repair::user_message;
use crate::results::{as_received, error_message, is_blank, keep, listed, listed_blocks};
use serde_json::{Value, json};
use std::collections::HashMap;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};
use toolkit_core::{ErrorKind, ToolError, ToolResult};

impl ResultCodec for Bedrock {
    /// Encodes all results in one user message, because the service requires all of them in the message after
    /// the calls.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        let blocks = results.iter().zip(ids).map(|(result, id)| encode_result(result, id));
        user_message("content", blocks.collect())
    }

    /// Parses the results in a message, a block, or a list of messages or blocks. If the payload also
    /// contains the call of a result, the result gets the tool name from the call.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let mut results = Vec::new();
        let mut names = HashMap::new();
        for (path, item) in listed(payload, "a message with results, a result, or a list of them")? {
            for (path, block) in listed_blocks(item, path, is_block)? {
                if call::is_call(block) {
                    let call = call::read(block, false);
                    names.extend(call.id.map(|id| (id.into_owned(), call.name)));
                } else if let Some(result) = block.get("toolResult") {
                    let id = required(result, &field(&path, "toolResult"), "toolUseId", "the id of a call")?;
                    let name = names.get(id).copied().unwrap_or_default();
                    let result = ToolResult::new(id.into(), name, parse_outcome(result));
                    let written = encode_result(&result, id);
                    results.push(keep(result, FACTS.name, block, &written));
                }
            }
        }
        Ok(results)
    }
}

/// Encodes a result. The field `status` is only written for errors, because some models do not accept it.
fn encode_result(result: &ToolResult, id: &str) -> Value {
    let mut fields = Fields::new();
    set(&mut fields, "toolUseId", id);
    match &result.outcome {
        Ok(output) => set(&mut fields, "content", contents(output)),
        Err(error) => {
            set(&mut fields, "content", vec![json!({"text": error_message(error)})]);
            set(&mut fields, "status", "error");
        }
    }
    as_received(&Bedrock, FACTS.name, &["/toolResult/toolUseId"], result, json!({"toolResult": fields}))
}

/// Encodes an output as content blocks. Blank texts are dropped, because the service refuses them.
fn contents(output: &ToolOutput) -> Vec<Value> {
    let message = (!output.message().is_empty()).then(|| json!({"text": output.message()}));
    let mut blocks: Vec<Value> = output.content().iter().map(block).chain(message).collect();
    blocks.retain(|block| !block["text"].as_str().is_some_and(is_blank));
    number_documents(&mut blocks);
    blocks
}

/// Encodes one [`Content`] as a content block. Only JSON objects become blocks of the kind `json`, because models
/// refuse other values in such blocks.
fn block(content: &Content) -> Value {
    match content {
        Content::Json(json) => match json.to_value() {
            object @ Value::Object(_) => json!({"json": object}),
            _ => json!({"text": json.as_str()}),
        },
        _ => media::block(content),
    }
}

fn parse_outcome(result: &Value) -> Result<ToolOutput, ToolError> {
    let output = ToolOutput::new(list(result, "content").iter().map(media::content).collect());
    match text(result, "status") {
        "error" => Err(ToolError::new(ErrorKind::Failed, output.to_text())),
        _ => Ok(output),
    }
}
