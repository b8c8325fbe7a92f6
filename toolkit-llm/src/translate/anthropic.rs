//! Reads requests of Anthropic's API.

use super::received_results::{listed, store_received};
use super::tools::{flag, parse_named, read_settings, required};
use super::{RequestCodec, RequestTools, ResultForm, received_definitions};
use crate::apis::anthropic::Anthropic;
use crate::apis::anthropic::read::is_block;
use crate::apis::anthropic::write::CHOICE;
use crate::history::results::json_content;
use crate::json::WireError;
use crate::json::fields::{Fields, elements, field, list, object, optional, text};
use serde_json::Value;
use std::collections::HashMap;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, Media, MediaData, ToolOutput};
use toolkit_core::{ErrorKind, ToolError, ToolResult};

impl RequestCodec for Anthropic {
    fn parse_tool(&self, tool: &Value, path: &str, found: &mut RequestTools) -> Result<(), WireError> {
        let fields = object(tool, path, "the name, description and schema of a tool")?;
        if is_hosted(tool, path)? {
            found.hosted.push(tool.clone());
            return Ok(());
        }
        let mut definition = parse_named(fields, path, "input_schema")?;
        read_settings(fields, path, &mut definition.metadata)?;
        let examples = optional(fields, path, "input_examples", "a list", Value::as_array)?;
        definition.metadata.input_examples = examples.cloned().unwrap_or_default();
        received_definitions::store_unknown_fields(self, &mut definition, fields);
        found.own.push(definition);
        Ok(())
    }

    fn parse_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError> {
        // By default, the model decides.
        let choice = match request.get(CHOICE) {
            None | Some(Value::Null) => return Ok(ToolConfig::default()),
            Some(choice) => choice,
        };
        let fields = object(choice, CHOICE, "an object with a `type`")?;
        let mut wanted = ToolConfig::from(match text(choice, "type") {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            "any" => ToolChoice::Required,
            "tool" => {
                let name = required(choice, CHOICE, "name", "the name of a tool")?;
                ToolChoice::Tool(names.unspell(name).to_owned())
            }
            _ => return Err(WireError::new("tool_choice.type", "`auto`, `any`, `tool` or `none`")),
        });
        if let Some(is_disabled) = flag(fields, CHOICE, "disable_parallel_tool_use")? {
            wanted.parallel = Some(!is_disabled);
        }
        Ok(wanted)
    }

    /// Parses results in messages or blocks. The tool name comes from the call, if the payload contains it.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let items = listed(payload, "a message with results, a result, or a list of them")?;
        let mut results = Vec::new();
        let mut names = HashMap::new();
        for (path, item) in items {
            for (path, block) in listed_blocks(item, path)? {
                match text(block, "type") {
                    "tool_use" => {
                        names.insert(text(block, "id"), text(block, "name"));
                    }
                    "tool_result" => {
                        let id = required(block, &path, "tool_use_id", "the id of a call")?;
                        let name = names.get(id).copied().unwrap_or_default();
                        let result = ToolResult::new(id.into(), name, parse_outcome(block, &path)?);
                        results.push(store_received(self, result, block));
                    }
                    _ => {}
                }
            }
        }
        Ok(results)
    }

    fn result_form(&self) -> ResultForm {
        ResultForm {
            parts: "content",
            is_result: |block| text(block, "type") == "tool_result",
            own: &["/tool_use_id"],
        }
    }
}

/// Returns whether the service defines the tool, such as `web_search_20250305` or `bash_20250124`.
///
/// A function in the format of another API is an error, because it would be lost as a tool of the service.
fn is_hosted(tool: &Value, path: &str) -> Result<bool, WireError> {
    match tool.get("type") {
        None | Some(Value::Null) => Ok(false),
        Some(kind) if kind == "custom" => Ok(false),
        Some(kind) if kind == "function" => {
            Err(WireError::new(field(path, "type"), "no such type, which tools of other APIs have"))
        }
        Some(Value::String(_)) => Ok(true),
        Some(_) => Err(WireError::new(field(path, "type"), "a text")),
    }
}

/// Returns the content blocks of the message or block `item`, each with its path.
fn listed_blocks(item: &Value, path: String) -> Result<Vec<(String, &Value)>, WireError> {
    if is_block(item) {
        return Ok(vec![(path, item)]);
    }
    match item.get("role").and_then(Value::as_str) {
        Some("user" | "assistant" | "system") => {}
        // A message with another role may contain results in the format of another API.
        _ => return Err(WireError::new(field(&path, "role"), "`user`, which marks messages with results")),
    }
    Ok(elements(list(item, "content"), &field(&path, "content")).collect())
}

fn parse_outcome(block: &Value, path: &str) -> Result<Result<ToolOutput, ToolError>, WireError> {
    let output = match block.get("content") {
        None | Some(Value::Null) => ToolOutput::default(),
        Some(Value::String(text)) => ToolOutput::text(text.as_str()),
        Some(Value::Array(blocks)) => ToolOutput::new(blocks.iter().map(content).collect()),
        Some(_) => return Err(WireError::new(field(path, "content"), "a text or a list of content blocks")),
    };
    let is_error = flag(object(block, path, "a result")?, path, "is_error")?.unwrap_or_default();
    Ok(if is_error { Err(ToolError::new(ErrorKind::Failed, output.to_text())) } else { Ok(output) })
}

/// Parses a content block. An unknown type is kept as JSON.
fn content(block: &Value) -> Content {
    known_content(block).unwrap_or_else(|| json_content(block))
}

fn known_content(block: &Value) -> Option<Content> {
    match block.get("type")?.as_str()? {
        "text" => Some(Content::Text(block.get("text")?.as_str()?.to_owned())),
        "image" => Some(Content::Image(Box::new(media(block, "image/*")?))),
        "document" => match plain_text(block) {
            Some(text) => Some(Content::Text(text.to_owned())),
            None => Some(Content::File(Box::new(media(block, "application/pdf")?))),
        },
        _ => None,
    }
}

fn plain_text(block: &Value) -> Option<&str> {
    let source = block.get("source")?;
    if text(source, "type") == "text" { source.get("data")?.as_str() } else { None }
}

/// Parses a media item. The API states no media type for a URL, so it gets `behind_url`.
fn media(block: &Value, behind_url: &str) -> Option<Media> {
    let source = block.get("source")?;
    let text = |name: &str| source.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let name = block.get("title").and_then(Value::as_str).map(ToOwned::to_owned);
    match source.get("type")?.as_str()? {
        "base64" => {
            let data = MediaData::Base64(text("data")?);
            Some(Media { media_type: text("media_type")?, data, name })
        }
        "url" => Some(Media { media_type: behind_url.to_owned(), data: MediaData::Url(text("url")?), name }),
        _ => None,
    }
}
