//! Encodes results as items.

use super::call::is_custom;
use super::{FACTS, OpenAiResponses, client};
use crate::codec::ResultCodec;
use crate::fields::{Fields, copy, set, text};
use crate::media::{IMAGES, MediaKind, MediaRule, MediaTable, Urls, accepted, address, file_name};
use crate::results::{output_text, unsendable};
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, MediaData};

pub(super) const FUNCTION_OUTPUT: &str = "function_call_output";
pub(crate) const CUSTOM_OUTPUT: &str = "custom_tool_call_output";

/// The fields of a function call that are repeated in its result.
pub(crate) const REPEATED: [&str; 2] = ["namespace", "caller"];

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
    vec![item.into()]
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
pub(crate) fn is_result(item: &Value) -> bool {
    matches!(text(item, "type"), FUNCTION_OUTPUT | CUSTOM_OUTPUT) || client::of_output(item).is_some()
}
