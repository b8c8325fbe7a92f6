//! Encodes results as content blocks.

use super::Bedrock;
use super::media::{self, number_documents};
use crate::codec::ResultCodec;
use crate::fields::{Fields, set};
use crate::repair::user_message;
use crate::results::{error_message, is_blank};
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};

impl ResultCodec for Bedrock {
    /// Encodes all results in one user message, because the service requires all of them in the message after
    /// the calls.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        let blocks = results.iter().zip(ids).map(|(result, id)| encode_result(result, id));
        user_message("content", blocks.collect())
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
    json!({"toolResult": fields})
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
