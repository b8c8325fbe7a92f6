//! The messages that answer the calls, both ways.

use super::{IDS, NAMES};
use crate::WireError;
use crate::history;
use crate::media::{address, base64, file_name, media};
use crate::path::{element, field};
use crate::writer::HistoryWriter;
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::ToolResult;
use toolkit_core::output::{Content, JsonText, MediaData, ToolOutput};

/// One `tool` message for each result. They hold text only and must follow the calls without
/// anything between, so all media come after them, in one message of the user.
pub(super) fn encode_results(results: &[ToolResult], how: &HistoryWriter<'_>) -> Vec<Value> {
    let ids = history::ids(IDS, how.strict_ids, results.iter().map(|result| result.call_id.as_str()));
    let results = || results.iter().zip(ids.iter().map(String::as_str));
    let mut messages: Vec<Value> = results().map(|(result, id)| tool_message(result, id)).collect();
    let attachments: Vec<Value> = results().flat_map(|(result, id)| attachments(result, id, how)).collect();
    if !attachments.is_empty() {
        messages.push(json!({"role": "user", "content": attachments}));
    }
    messages
}

fn tool_message(result: &ToolResult, id: &str) -> Value {
    let text = match &result.outcome {
        Ok(output) => text(output),
        Err(error) => Cow::Borrowed(error.message()),
    };
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

fn text(output: &ToolOutput) -> Cow<'_, str> {
    let content = match output.content() {
        [only] => content_text(only),
        list => Cow::Owned(list.iter().map(content_text).collect::<Vec<_>>().join("\n")),
    };
    match (content.is_empty(), output.message()) {
        (_, "") => content,
        (true, message) => Cow::Borrowed(message),
        (false, message) => Cow::Owned(format!("{content}\n{message}")),
    }
}

pub(super) fn content_text(content: &Content) -> Cow<'_, str> {
    let text = content.to_text();
    match content {
        _ if part(content).is_some() => {
            Cow::Owned(format!("{text} follows in the user message after the tool results"))
        }
        // An address is in the text already, and there is no other way to hand it on.
        Content::Audio(media) | Content::File(media) | Content::Image(media) => match &media.data {
            MediaData::Url(_) => text,
            MediaData::Base64(_) => {
                Cow::Owned(format!("{text} cannot be shown: this API has no way to send it"))
            }
        },
        _ => text,
    }
}

/// Each medium, after a text that says which call it comes from.
fn attachments<'a>(
    result: &'a ToolResult,
    id: &'a str,
    how: &HistoryWriter<'a>,
) -> impl Iterator<Item = Value> + use<'a> {
    let name = history::name(NAMES, how.names.spell(&result.name));
    let contents = result.outcome.as_ref().map_or(&[][..], ToolOutput::content);
    contents.iter().filter_map(|content| Some((content, part(content)?))).flat_map(move |(content, part)| {
        let label = format!("{} from tool call {id} ({name}):", content.to_text());
        [json!({"type": "text", "text": label}), part]
    })
}

/// A content part of a user message: an image, a sound of the two formats that the API knows, or a
/// file whose bytes are there. `None` for what is not one of these.
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
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}

/// The `tool` messages of a history, or one of them.
pub(super) fn parse_results(payload: &Value) -> Result<Vec<ToolResult>, WireError> {
    let messages = match payload {
        Value::Array(messages) => messages.as_slice(),
        Value::Object(_) => std::slice::from_ref(payload),
        _ => return Err(WireError::new("", "a message or a list of messages")),
    };
    let is_list = payload.is_array();
    let place = |at| if is_list { element("", at) } else { String::new() };
    let answers = messages.iter().enumerate().filter(|(_, message)| is_answer(message));
    let results = answers.map(|(at, message)| parse_result(message, &place(at)));
    let mut results: Vec<ToolResult> = results.collect::<Result<_, _>>()?;
    for (position, result) in results.iter_mut().enumerate() {
        result.position = position;
    }
    Ok(results)
}

fn is_answer(message: &Value) -> bool {
    message.get("role").is_some_and(|role| role == "tool")
}

/// The API marks no errors, so every result is an output. Some servers repeat the tool's name.
fn parse_result(message: &Value, path: &str) -> Result<ToolResult, WireError> {
    let Some(id) = message.get("tool_call_id").and_then(Value::as_str) else {
        return Err(WireError::new(field(path, "tool_call_id"), "the id of a call"));
    };
    let name = message.get("name").and_then(Value::as_str).unwrap_or_default();
    let output = match message.get("content") {
        None | Some(Value::Null) => ToolOutput::text(""),
        Some(Value::String(text)) => ToolOutput::text(text),
        Some(Value::Array(parts)) => ToolOutput::new(parts.iter().map(parse_part).collect()),
        Some(value) => json_content(value).into(),
    };
    Ok(ToolResult::new(id.into(), name, Ok(output)))
}

/// Text is all that the service takes. Others take pictures too; anything else stays as it is.
fn parse_part(part: &Value) -> Content {
    let picture = part.get("image_url").map(|image| image.get("url").unwrap_or(image));
    match (part.get("text"), picture) {
        (Some(Value::String(text)), _) => Content::Text(text.clone()),
        (_, Some(Value::String(url))) => Content::Image(Box::new(media(url, "image/*"))),
        _ => json_content(part),
    }
}

fn json_content(value: &Value) -> Content {
    JsonText::new(value).map_or_else(|_| Content::Text(value.to_string()), Content::Json)
}
