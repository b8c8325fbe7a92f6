//! Encodes and parses results as tool messages.

use super::{FACTS, OpenAiChat};
use crate::codec::ResultCodec;
use crate::fields::{required, text};
use crate::media::{address, base64, essence, file_name, media};
use crate::results::{json_content, listed, output_text, unsendable};
use crate::{WireError, history};
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};

impl ResultCodec for OpenAiChat {
    /// Encodes one `tool` message for each result. Tool messages may contain only text and must directly
    /// follow the calls. All media items are therefore in one user message after them.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        let mut messages: Vec<Value> =
            results.iter().zip(ids).map(|(result, id)| tool_message(result, id)).collect();
        let attachments: Vec<Value> =
            results.iter().zip(ids).flat_map(|(result, id)| attachments(result, id, names)).collect();
        if !attachments.is_empty() {
            messages.push(json!({"role": "user", "content": attachments}));
        }
        messages
    }

    /// Parses the `tool` messages of a history, or a single `tool` message.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let messages = listed(payload, "a message or a list of messages")?;
        let messages = messages.iter().filter(|(_, message)| text(message, "role") == "tool");
        messages.map(|(path, message)| parse_result(message, path)).collect()
    }
}

fn tool_message(result: &ToolResult, id: &str) -> Value {
    let text = match &result.outcome {
        Ok(output) => output_text(output, content_text),
        Err(error) => Cow::Borrowed(error.message()),
    };
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

pub(super) fn content_text(content: &Content) -> Cow<'_, str> {
    if part(content).is_some() {
        let text = content.to_text();
        return Cow::Owned(format!("{text} follows in the user message after the tool results"));
    }
    unsendable(content)
}

/// Encodes the media items of the results as content parts. The text before each media item says which call
/// returned it.
fn attachments<'a>(
    result: &'a ToolResult,
    id: &'a str,
    names: &WireNames,
) -> impl Iterator<Item = Value> + use<'a> {
    let name = history::name(FACTS.names, names.spell(&result.name)).into_owned();
    let contents = result.outcome.as_ref().map_or(&[][..], ToolOutput::content);
    contents.iter().filter_map(|content| Some((content, part(content)?))).flat_map(move |(content, part)| {
        let label = format!("{} from tool call {id} ({name}):", content.to_text());
        [json!({"type": "text", "text": label}), part]
    })
}

/// Encodes a content part of a user message: an image, audio in one of the two accepted formats, or a file
/// with its bytes. Returns `None` for other content.
pub(super) fn part(content: &Content) -> Option<Value> {
    match content {
        Content::Image(media) => Some(json!({"type": "image_url", "image_url": {"url": address(media)}})),
        Content::Audio(media) => {
            let (data, format) = (base64(media)?, audio_format(&media.media_type)?);
            Some(json!({"type": "input_audio", "input_audio": {"data": data, "format": format}}))
        }
        Content::File(media) => {
            base64(media)?;
            Some(json!({"type": "file", "file": {"filename": file_name(media), "file_data": address(media)}}))
        }
        _ => None,
    }
}

fn audio_format(media_type: &str) -> Option<&'static str> {
    match &*essence(media_type) {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}

/// Parses a `tool` message. The API does not mark errors, so every result is parsed as an output. The tool
/// name is only set if the server sends it.
fn parse_result(message: &Value, path: &str) -> Result<ToolResult, WireError> {
    let id = required(message, path, "tool_call_id", "the id of a call")?;
    let output = match message.get("content") {
        None | Some(Value::Null) => ToolOutput::text(""),
        Some(Value::String(text)) => ToolOutput::text(text),
        Some(Value::Array(parts)) => ToolOutput::new(parts.iter().map(parse_part).collect()),
        Some(value) => json_content(value).into(),
    };
    Ok(ToolResult::new(id.into(), text(message, "name"), Ok(output)))
}

/// Parses a content part. The service accepts only text, and other servers also images. Other parts are kept
/// as JSON.
fn parse_part(part: &Value) -> Content {
    let picture = part.get("image_url").map(|image| image.get("url").unwrap_or(image));
    match (part.get("text"), picture) {
        (Some(Value::String(text)), _) => Content::Text(text.clone()),
        (_, Some(Value::String(url))) => Content::Image(Box::new(media(url, "image/*"))),
        _ => json_content(part),
    }
}
