//! Encodes and parses results as items.

use super::call::{CUSTOM, is_custom};
use super::{FACTS, OpenAiResponses, client};
use crate::WireError;
use crate::codec::ResultCodec;
use crate::fields::{Fields, copy, field, required, set, text};
use crate::media::{IMAGES, MediaKind, MediaRule, MediaTable, Urls, accepted, address, file_name, media};
use crate::results::{as_received, json_content, keep, listed, output_text, unsendable};
use serde_json::{Value, json};
use std::collections::HashMap;
use toolkit_core::ToolResult;
use toolkit_core::call::ProviderExtras;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, Media, MediaData, ToolOutput};

pub(super) const FUNCTION_OUTPUT: &str = "function_call_output";
pub(super) const CUSTOM_OUTPUT: &str = "custom_tool_call_output";

/// The fields of a function call that are repeated in its result.
const REPEATED: [&str; 2] = ["namespace", "caller"];

/// The media items that the API accepts, from OpenAI's guides to images and files. Messages and tool results accept the
/// same items.
pub(super) const MEDIA: MediaTable = MediaTable { messages: ACCEPTED, results: ACCEPTED };

const ACCEPTED: &[MediaRule] = &[
    MediaRule { kind: MediaKind::Image, types: IMAGES, embedded: true, urls: Urls::Any },
    MediaRule { kind: MediaKind::File, types: DOCUMENTS, embedded: true, urls: Urls::Web },
];

/// The media types of the accepted files: documents, presentations, spreadsheets, texts and source code.
const DOCUMENTS: &[&str] = &[
    "application/pdf",
    "text/*",
    "application/json",
    "application/xml",
    "*+json",
    "*+xml",
    "application/yaml",
    "application/toml",
    "application/javascript",
    "application/typescript",
    "application/csv",
    "application/rtf",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
];

impl ResultCodec for OpenAiResponses {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        results.iter().zip(ids).flat_map(|(result, id)| encode_result(result, id)).collect()
    }

    /// Parses the results in a list of items, or a single result. The tool names are taken from the calls in
    /// the list.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let items = listed(payload, "an item or a list of items")?;
        let named = items
            .iter()
            .filter_map(|(_, item)| Some((item.get("call_id")?.as_str()?, item.get("name")?.as_str()?)));
        let names: HashMap<&str, &str> = named.collect();
        let results = items.iter().filter(|(_, item)| is_result(item));
        results.map(|(path, item)| parse_result(item, path, &names)).collect()
    }
}

/// Encodes a result. The API has no mark for errors, so only the text tells the model that a call failed.
///
/// The service does not require the field `status`, but some compatible servers do. Results of custom tools
/// have no `status`.
pub(super) fn encode_result(result: &ToolResult, id: &str) -> Vec<Value> {
    if let Some(client) = client::of_extras(&result.extras) {
        return client.write_result(result, id);
    }
    let mut item = Fields::new();
    let is_custom = is_custom(&result.extras);
    set(&mut item, "type", if is_custom { CUSTOM_OUTPUT } else { FUNCTION_OUTPUT });
    set(&mut item, "call_id", id);
    set(&mut item, "output", encode_output(result));
    if !is_custom {
        set(&mut item, "status", "completed");
    }
    if let Some(extras) = result.extras.of(FACTS.name) {
        // Results of custom calls have no namespace.
        copy(extras, &mut item, if is_custom { &REPEATED[1..] } else { &REPEATED });
    }
    let own = ["/call_id", "/namespace", "/caller"];
    vec![as_received(&OpenAiResponses, FACTS.name, &own, result, Value::Object(item))]
}

/// Returns the JSON of an output. If there are media items, this is a list of contents. Otherwise it is a
/// string, because every server accepts strings.
fn encode_output(result: &ToolResult) -> Value {
    let output = match &result.outcome {
        Ok(output) => output,
        Err(error) => return error.message().into(),
    };
    if !output.content().iter().any(|content| media_part(content).is_some()) {
        return output_text(output, unsendable).into();
    }
    let message = Some(output.message()).filter(|message| !message.is_empty()).map(text_part);
    output.content().iter().map(content_part).chain(message).collect()
}

fn text_part(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

/// Encodes one [`Content`]. If the API has no form for the content, it becomes text.
pub(super) fn content_part(content: &Content) -> Value {
    media_part(content).unwrap_or_else(|| text_part(&unsendable(content)))
}

fn media_part(content: &Content) -> Option<Value> {
    let (kind, media) = accepted(ACCEPTED, content)?;
    Some(match (kind, &media.data) {
        (MediaKind::Image, _) => {
            json!({"type": "input_image", "detail": "auto", "image_url": address(media)})
        }
        (_, MediaData::Base64(_)) => {
            json!({"type": "input_file", "filename": file_name(media), "file_data": address(media)})
        }
        (_, MediaData::Url(url)) => json!({"type": "input_file", "file_url": url}),
    })
}

/// Returns whether an item is the result of a call run by the program.
pub(super) fn is_result(item: &Value) -> bool {
    matches!(text(item, "type"), FUNCTION_OUTPUT | CUSTOM_OUTPUT) || client::of_output(item).is_some()
}

fn parse_result(item: &Value, path: &str, names: &HashMap<&str, &str>) -> Result<ToolResult, WireError> {
    if let Some(client) = client::of_output(item) {
        let id = Some(client::answered(item)).filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| WireError::new(field(path, "call_id"), "the id of a call"))?;
        let (outcome, extras) = client.read_result(item);
        let extras = ProviderExtras::new(FACTS.name, extras);
        return Ok(ToolResult::new(id.into(), client.tool, outcome).with_extras(extras));
    }
    let id = required(item, path, "call_id", "the id of a call")?;
    let name = item.get("name").and_then(Value::as_str).or_else(|| names.get(id).copied());
    let output = match item.get("output") {
        Some(Value::String(text)) => ToolOutput::text(text.as_str()),
        Some(Value::Array(parts)) => ToolOutput::new(parts.iter().map(parse_part).collect()),
        _ => return Err(WireError::new(field(path, "output"), "a text or a list of contents")),
    };
    let mut extras = Fields::new();
    if text(item, "type") == CUSTOM_OUTPUT {
        set(&mut extras, "type", CUSTOM);
    }
    copy(item.as_object().unwrap_or(&Fields::new()), &mut extras, &REPEATED);
    let result = ToolResult::new(id.into(), name.unwrap_or_default(), Ok(output))
        .with_extras(ProviderExtras::new(FACTS.name, extras));
    let written = encode_result(&result, id);
    Ok(keep(result, FACTS.name, item, written.first().unwrap_or(&Value::Null)))
}

/// Parses one element of a list of contents. Unknown elements and references to uploaded files are kept as
/// JSON.
fn parse_part(part: &Value) -> Content {
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
    known.unwrap_or_else(|| json_content(part))
}
