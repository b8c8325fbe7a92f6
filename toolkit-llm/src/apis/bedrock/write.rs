//! Writes tools, messages and results for the next request.

use super::media::{self, number_documents};
use super::{Bedrock, FACTS};
use crate::call::outgoing::{Origin, OutgoingCall};
use crate::call::received::ReceivedMessage;
use crate::codec::{HistoryCodec, ResultCodec};
use crate::definitions::EncodedToolConfig;
use crate::definitions::declaration::{DefinitionCodec, DefinitionEncoder};
use crate::definitions::tool_config::{ChoiceCodec, without_set};
use crate::history::repair::user_message;
use crate::history::results::{error_message, is_blank, output_parts};
use crate::json::fields::{Fields, set, set_in};
use crate::json::texts;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};

impl DefinitionCodec for Bedrock {
    fn write_definition(&self, encoder: &mut DefinitionEncoder<'_>) -> Value {
        let mut tool = Fields::new();
        set(&mut tool, "name", encoder.name());
        // The service refuses an empty description.
        if !encoder.definition.description.is_empty() {
            set(&mut tool, "description", encoder.definition.description.as_str());
        }
        set_in(&mut tool, &["inputSchema", "json"], encoder.parameters());
        if encoder.how.strict {
            set(&mut tool, "strict", true);
        }
        let mut entry = Fields::new();
        set(&mut entry, "toolSpec", tool);
        entry.into()
    }
}

impl ChoiceCodec for Bedrock {
    /// Leaves out the default `auto`, which some models refuse.
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let (choice, is_set_lost) = without_set(&wanted.choice);
        let mut fields = Fields::new();
        let path = ["toolConfig", "toolChoice"];
        match &choice {
            ToolChoice::Required => set_in(&mut fields, &path, json!({"any": {}})),
            ToolChoice::Tool(name) => {
                set_in(&mut fields, &path, json!({"tool": {"name": names.spell(name)}}));
            }
            _ => {}
        }
        let mut encoded = EncodedToolConfig::new(fields);
        if choice == ToolChoice::None {
            encoded = encoded.lose("/choice", "none", "the API cannot forbid calls: the model decides");
        }
        if is_set_lost {
            let reason = "the API has no set of allowed tools: the model may call every tool of the request";
            encoded = encoded.lose("/choice/allowed/names", "allowed", reason);
        }
        encoded.without_limit(wanted)
    }
}

impl HistoryCodec for Bedrock {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let known = match call.origin {
            Origin::Received { json, .. } => json.get("toolUse").and_then(Value::as_object),
            Origin::Made(extras) => extras.for_api(FACTS.name),
        };
        let mut fields = known.cloned().unwrap_or_default();
        fields.retain(|_, value| !value.is_null());
        set(&mut fields, "toolUseId", call.id);
        set(&mut fields, "name", call.name);
        set(&mut fields, "input", call.arguments.into_object());
        json!({"toolUse": fields})
    }

    /// Keeps reasoning unchanged, because it is signed, and drops blank texts, which the service refuses.
    fn write_part(&self, block: &Value) -> Option<Value> {
        let block = texts::settled(block, &["text"]);
        let has_content = block.as_object().is_some_and(|fields| !fields.is_empty());
        if has_content && !is_blank_text(&block) { Some(block.into_owned()) } else { None }
    }

    /// Drops reasoning at the end, which models refuse.
    fn write_message(&self, _message: &ReceivedMessage<'_>, mut blocks: Vec<Value>) -> Vec<Value> {
        while blocks.last().is_some_and(|block| block.get("reasoningContent").is_some()) {
            blocks.pop();
        }
        assistant(blocks)
    }

    /// Removes white space at the end, which models refuse.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let mut blocks = Vec::with_capacity(calls.len() + 1);
        let trimmed = text.trim_end();
        if !trimmed.is_empty() {
            blocks.push(json!({"text": trimmed}));
        }
        blocks.extend(calls);
        assistant(blocks)
    }

    /// Encodes a user message.
    ///
    /// The service requires a text beside documents, and refuses blank texts and empty messages.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let mut blocks: Vec<Value> = contents.iter().map(media::block).collect();
        blocks.retain(|block| !is_blank_text(block));
        number_documents(&mut blocks);
        if blocks.is_empty() {
            blocks.push(json!({"text": "(empty message)"}));
        } else if has_kind(&blocks, "document") && !has_kind(&blocks, "text") {
            let names = contents.iter().map(Content::to_text).collect::<Vec<_>>().join("\n");
            blocks.push(json!({"text": names}));
        }
        json!({"role": "user", "content": blocks})
    }
}

fn has_kind(blocks: &[Value], kind: &str) -> bool {
    blocks.iter().any(|block| block.get(kind).is_some())
}

fn assistant(blocks: Vec<Value>) -> Vec<Value> {
    if blocks.is_empty() { Vec::new() } else { vec![json!({"role": "assistant", "content": blocks})] }
}

/// Returns whether a block is a blank text, which the service refuses.
fn is_blank_text(block: &Value) -> bool {
    block.get("text").and_then(Value::as_str).is_some_and(is_blank)
}

impl ResultCodec for Bedrock {
    /// Encodes all results in one user message after the calls, as the service requires.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        let mut blocks = Vec::with_capacity(results.len());
        for (result, id) in results.iter().zip(ids) {
            blocks.push(encode_result(result, id));
        }
        user_message("content", blocks)
    }
}

/// Encodes a result.
///
/// Only errors have a `status`, because some models do not accept it.
fn encode_result(result: &ToolResult, id: &str) -> Value {
    let mut fields = Fields::new();
    set(&mut fields, "toolUseId", id);
    match &result.outcome {
        Ok(output) => set(&mut fields, "content", result_contents(output)),
        Err(error) => {
            set(&mut fields, "content", vec![json!({"text": error_message(error)})]);
            set(&mut fields, "status", "error");
        }
    }
    json!({"toolResult": fields})
}

/// Encodes an output as content blocks without blank texts.
fn result_contents(output: &ToolOutput) -> Vec<Value> {
    let mut blocks = output_parts(output, result_block, |text| json!({"text": text}));
    blocks.retain(|block| !is_blank_text(block));
    number_documents(&mut blocks);
    blocks
}

/// Encodes one [`Content`].
///
/// Models accept only JSON objects in blocks of the kind `json`.
fn result_block(content: &Content) -> Value {
    match content {
        Content::Json(json) => match json.to_value() {
            Ok(object @ Value::Object(_)) => json!({"json": object}),
            _ => json!({"text": json.as_str()}),
        },
        _ => media::block(content),
    }
}
