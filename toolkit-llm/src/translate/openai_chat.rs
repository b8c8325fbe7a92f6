//! Reads requests of OpenAI's Chat Completions API.

use super::openai::{is_hosted, media};
use super::received_results::{listed, store_received};
use super::tools::required;
use super::{RequestCodec, RequestTools, ResultForm, openai, received_definitions};
use crate::apis::openai::Form;
use crate::apis::openai_chat::OpenAiChat;
use crate::history::results::json_content;
use crate::json::WireError;
use crate::json::fields::{Fields, object, text};
use serde_json::Value;
use toolkit_core::ToolResult;
use toolkit_core::call::ToolConfig;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};

impl RequestCodec for OpenAiChat {
    fn parse_tool(&self, tool: &Value, path: &str, found: &mut RequestTools) -> Result<(), WireError> {
        if is_hosted(tool) {
            found.hosted.push(tool.clone());
            return Ok(());
        }
        let (mut definition, ..) = Form::Nested.parse_tool(tool, path)?;
        received_definitions::store_unknown_fields(self, &mut definition, object(tool, path, "a tool")?);
        found.own.push(definition);
        Ok(())
    }

    fn parse_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError> {
        openai::parse_config(Form::Nested, request, names)
    }

    /// Parses the `tool` messages of a history.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let mut results = Vec::new();
        for (path, message) in listed(payload, "a message or a list of messages")? {
            if text(message, "role") == "tool" {
                results.push(parse_result(message, &path)?);
            }
        }
        Ok(results)
    }

    fn result_form(&self) -> ResultForm {
        ResultForm {
            parts: "",
            is_result: |message| text(message, "role") == "tool",
            own: &["/tool_call_id"],
        }
    }
}

/// Parses a `tool` message. The API does not mark errors, so every result is an output. Only some servers
/// send the tool name.
fn parse_result(message: &Value, path: &str) -> Result<ToolResult, WireError> {
    let id = required(message, path, "tool_call_id", "the id of a call")?;
    let output = match message.get("content") {
        None | Some(Value::Null) => ToolOutput::text(""),
        Some(Value::String(text)) => ToolOutput::text(text),
        Some(Value::Array(parts)) => ToolOutput::new(parts.iter().map(parse_part).collect()),
        Some(value) => json_content(value).into(),
    };
    let result = ToolResult::new(id.into(), text(message, "name"), Ok(output));
    Ok(store_received(&OpenAiChat, result, message))
}

/// Parses a content part. OpenAI accepts only text; other servers also accept images. Other parts are kept as
/// JSON.
fn parse_part(part: &Value) -> Content {
    let picture = part.get("image_url").map(|image| image.get("url").unwrap_or(image));
    match (part.get("text"), picture) {
        (Some(Value::String(text)), _) => Content::Text(text.clone()),
        (_, Some(Value::String(url))) => Content::Image(Box::new(media(url, "image/*"))),
        _ => json_content(part),
    }
}
