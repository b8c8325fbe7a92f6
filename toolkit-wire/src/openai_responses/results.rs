//! The items that answer the calls.

use super::call::{CUSTOM, copy, is_custom};
use super::response::{Fields, kind};
use super::{FORMAT, IDS};
use crate::WireError;
use crate::history;
use crate::media::{address, file_name, media};
use crate::path::{element, field};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use toolkit_core::ToolResult;
use toolkit_core::call::ProviderExtras;
use toolkit_core::output::{Content, JsonText, Media, MediaData, ToolOutput};

pub(super) const FUNCTION_OUTPUT: &str = "function_call_output";
pub(super) const CUSTOM_OUTPUT: &str = "custom_tool_call_output";

/// What the answer of a function repeats of its call.
const REPEATED: [&str; 2] = ["namespace", "caller"];

pub(super) fn encode_results(results: &[ToolResult]) -> Vec<Value> {
    let ids = history::ids(IDS, true, results.iter().map(|result| result.call_id.as_str()));
    results.iter().zip(ids).map(|(result, id)| encode_result(result, id)).collect()
}

/// There is no mark for errors: the text says it. `status` is as in calls: optional to the service,
/// demanded by some who imitate it, and unknown to custom calls.
fn encode_result(result: &ToolResult, id: String) -> Value {
    let mut item = Fields::new();
    let mut put = |name: &str, value: Value| item.insert(name.to_owned(), value);
    let is_custom = is_custom(&result.extras);
    put("type", if is_custom { CUSTOM_OUTPUT } else { FUNCTION_OUTPUT }.into());
    put("call_id", id.into());
    put("output", encode_output(result));
    if !is_custom {
        put("status", "completed".into());
    }
    if let Some(extras) = result.extras.of(FORMAT) {
        // The answer of a custom call has no namespace.
        copy(extras, &mut item, if is_custom { &REPEATED[1..] } else { &REPEATED });
    }
    Value::Object(item)
}

/// A text, which every server takes, or a list of contents if there are media among them.
fn encode_output(result: &ToolResult) -> Value {
    let output = match &result.outcome {
        Ok(output) => output,
        Err(error) => return error.message().into(),
    };
    let message = Some(output.message()).filter(|message| !message.is_empty());
    let contents = output.content().iter();
    if contents.clone().any(|content| part(content).is_some()) {
        let parts = contents.map(|content| part(content).unwrap_or_else(|| text_part(&text(content))));
        return parts.chain(message.map(text_part)).collect();
    }
    let said = contents.map(text).collect::<Vec<_>>().join("\n");
    match message {
        None => said.into(),
        Some(message) if said.is_empty() => message.into(),
        Some(message) => format!("{said}\n{message}").into(),
    }
}

pub(super) fn text_part(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

pub(super) fn text(content: &Content) -> Cow<'_, str> {
    let text = content.to_text();
    match content {
        // An address is in the text already, and there is no other way to hand it on.
        Content::Audio(media) if matches!(media.data, MediaData::Base64(_)) => {
            Cow::Owned(format!("{text} cannot be shown: this API has no way to send it"))
        }
        _ => text,
    }
}

/// The content as what the API has for media; `None` for what is to be said as text.
pub(super) fn part(content: &Content) -> Option<Value> {
    match content {
        Content::Image(media) => {
            Some(json!({"type": "input_image", "detail": "auto", "image_url": address(media)}))
        }
        Content::File(media) => Some(match &media.data {
            MediaData::Base64(_) => {
                json!({"type": "input_file", "filename": file_name(media), "file_data": address(media)})
            }
            MediaData::Url(url) => json!({"type": "input_file", "file_url": url}),
        }),
        _ => None,
    }
}

pub(super) fn parse_results(payload: &Value) -> Result<Vec<ToolResult>, WireError> {
    let items = match payload {
        Value::Array(items) => items.as_slice(),
        Value::Object(_) => std::slice::from_ref(payload),
        _ => return Err(WireError::new("", "an item or a list of items")),
    };
    let names = called_names(items);
    let mut results = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(fields) = item.as_object() else { continue };
        let Some(FUNCTION_OUTPUT | CUSTOM_OUTPUT) = kind(fields) else { continue };
        let path = if payload.is_array() { element("", index) } else { String::new() };
        results.push(parse_result(fields, &path, &names)?.with_position(results.len()));
    }
    Ok(results)
}

/// The names of the calls that stand in the same list: an answer alone rarely says its own.
fn called_names(items: &[Value]) -> HashMap<&str, &str> {
    items
        .iter()
        .filter_map(|item| Some((item.get("call_id")?.as_str()?, item.get("name")?.as_str()?)))
        .collect()
}

fn parse_result(item: &Fields, path: &str, names: &HashMap<&str, &str>) -> Result<ToolResult, WireError> {
    let Some(id) = item.get("call_id").and_then(Value::as_str) else {
        return Err(WireError::new(field(path, "call_id"), "the id of a call"));
    };
    let name = item.get("name").and_then(Value::as_str).or_else(|| names.get(id).copied());
    let output = match item.get("output") {
        Some(Value::String(text)) => ToolOutput::text(text.as_str()),
        Some(Value::Array(parts)) => ToolOutput::new(parts.iter().filter_map(parse_part).collect()),
        _ => return Err(WireError::new(field(path, "output"), "a text or a list of contents")),
    };
    let mut extras = Fields::new();
    if kind(item) == Some(CUSTOM_OUTPUT) {
        extras.insert("type".to_owned(), CUSTOM.into());
    }
    copy(item, &mut extras, &REPEATED);
    Ok(ToolResult::new(id.into(), name.unwrap_or_default(), Ok(output))
        .with_extras(ProviderExtras::new(FORMAT, extras)))
}

/// A content that is not known, or refers to a file that the service keeps, stays as its JSON.
fn parse_part(part: &Value) -> Option<Content> {
    let text = |name| part.get(name).and_then(Value::as_str);
    let media = |address, name: Option<&str>, otherwise| {
        Box::new(Media { name: name.map(ToOwned::to_owned), ..media(address, otherwise) })
    };
    let known = match text("type") {
        Some("input_text" | "output_text") => text("text").map(|text| Content::Text(text.to_owned())),
        Some("input_image") => text("image_url").map(|url| Content::Image(media(url, None, "image/*"))),
        Some("input_file") => text("file_data")
            .or_else(|| text("file_url"))
            .map(|data| Content::File(media(data, text("filename"), "application/octet-stream"))),
        _ => None,
    };
    known.or_else(|| JsonText::new(part).ok().map(Content::Json))
}
