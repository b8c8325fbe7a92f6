//! Encodes results as the parts of one message.

use super::call::sendable_id;
use super::{FACTS, Gemini};
use crate::codec::ResultCodec;
use crate::fields::{Fields, set};
use crate::history;
use crate::media::{MediaKind, MediaRule, MediaTable, Urls, accepted, essence, media_of};
use crate::repair::user_message;
use crate::results::{attachments, output_text, result_text, unsendable};
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, JsonText, Media, MediaData, ToolOutput};

/// The media items that models of the third and later generations accept, both in messages and in tool results.
pub(super) const MEDIA: MediaTable = MediaTable { messages: ACCEPTED, results: ACCEPTED_IN_RESULTS };
/// The media items that models before the third generation accept. Tool results for these models have no field for
/// media items.
pub(super) const EARLIER_MEDIA: MediaTable = MediaTable { messages: ACCEPTED, results: &[] };

/// The media items accepted in messages, from the guides to images, audio, video and documents.
const ACCEPTED: &[MediaRule] = &[
    MediaRule {
        kind: MediaKind::Image,
        types: &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
        embedded: true,
        urls: Urls::Any,
    },
    MediaRule {
        kind: MediaKind::Audio,
        types: &[
            "audio/wav",
            "audio/mpeg",
            "audio/mpga",
            "audio/mp4",
            "audio/m4a",
            "audio/aiff",
            "audio/aac",
            "audio/ogg",
            "audio/opus",
            "audio/flac",
            "audio/pcm",
            "audio/webm",
        ],
        embedded: true,
        urls: Urls::Any,
    },
    MediaRule {
        kind: MediaKind::File,
        types: &["application/pdf", "text/*", "video/*", "application/x-javascript", "application/x-python"],
        embedded: true,
        urls: Urls::Any,
    },
];

/// The media items accepted in results, from the guide to function calling. The Gemini API accepts no URLs in
/// results.
const ACCEPTED_IN_RESULTS: &[MediaRule] = &[
    MediaRule {
        kind: MediaKind::Image,
        types: &["image/png", "image/jpeg", "image/webp"],
        embedded: true,
        urls: Urls::None,
    },
    MediaRule {
        kind: MediaKind::File,
        types: &["application/pdf", "text/plain"],
        embedded: true,
        urls: Urls::None,
    },
];

/// Returns the generation in the name of a model, for example 3 for `gemini-3-flash`. Returns `None` if the
/// name contains no generation, as in `gemini-flash-latest`.
pub(crate) fn generation(model: &str) -> Option<u32> {
    let (_, version) = model.rsplit_once("gemini-")?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

impl ResultCodec for Gemini {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        self.encode_results_for(None, results, ids, names)
    }

    /// Encodes all results in one message. The service requires one result for each call, in the order of the
    /// calls. If a result has no id, the service finds its call by position.
    ///
    /// Media items that are not accepted in results follow in a second message.
    fn encode_results_for(
        &self,
        generation: Option<u32>,
        results: &[ToolResult],
        ids: &[String],
        names: &WireNames,
    ) -> Vec<Value> {
        let table = FACTS.media_table(generation).unwrap_or(&MEDIA);
        let parts = results.iter().map(|result| encode_result(table, result, names));
        let mut messages = user_message("parts", parts.collect());
        let attached = results.iter().zip(ids).flat_map(|(result, id)| {
            let name = history::name(FACTS.names, names.spell(&result.name)).into_owned();
            attachments(table, result, id, name)
        });
        let attached = attached.flat_map(|(label, content)| {
            [Some(json!({"text": label})), media_of(content).map(|(_, media)| media_part(media))]
        });
        messages.extend(user_message("parts", attached.flatten().collect()));
        messages
    }
}

fn encode_result(table: &MediaTable, result: &ToolResult, names: &WireNames) -> Value {
    let mut answer = Fields::new();
    if let Some(id) = sendable_id(result.call_id.as_str()) {
        set(&mut answer, "id", id);
    }
    set(&mut answer, "name", history::name(FACTS.names, names.spell(&result.name)));
    let response = match &result.outcome {
        Ok(output) => json!({"output": output_value(table, output)}),
        Err(error) => json!({"error": error.message()}),
    };
    set(&mut answer, "response", response);
    let contents = result.outcome.as_ref().map_or(&[][..], ToolOutput::content);
    let media: Vec<Value> = contents
        .iter()
        .filter_map(|content| accepted(table.results, content))
        .map(|(_, media)| media_part(media))
        .collect();
    if !media.is_empty() {
        set(&mut answer, "parts", media);
    }
    json!({"functionResponse": answer})
}

/// Returns the JSON for an output. An output that consists of a single JSON value stays unchanged. Any other
/// output becomes text, in which media items are only named.
fn output_value(table: &MediaTable, output: &ToolOutput) -> Value {
    match (output.content(), output.message()) {
        ([Content::Json(json)], "") => json_value(json),
        _ => output_text(output, |content| result_text(table, content)).into(),
    }
}

/// Returns the value to send for the JSON of an output. The service stores every number as a double, so a value with a
/// number that would be rounded is sent as text.
fn json_value(json: &JsonText) -> Value {
    match serde_json::from_str(json.as_str()) {
        Ok(value) if is_exact(&value) => value,
        _ => json.as_str().into(),
    }
}

/// Returns whether all numbers in the value are below 2^53, up to which doubles represent every integer exactly.
///
/// Recursion is safe, because the parser limits the depth of the value.
fn is_exact(value: &Value) -> bool {
    /// 2^53. Doubles represent all integers up to this number exactly.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() < LARGEST),
        Value::Array(values) => values.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// Encodes one [`Content`] of a user message as a part.
pub(super) fn content_part(content: &Content) -> Value {
    match accepted(ACCEPTED, content) {
        Some((_, media)) => media_part(media),
        None => json!({"text": unsendable(content)}),
    }
}

/// Encodes a media item as a part. Only some versions of the API have a field for the file name, so the name
/// is part of the text instead.
pub(super) fn media_part(media: &Media) -> Value {
    let media_type = match &*essence(&media.media_type) {
        "image/jpg" => "image/jpeg",
        _ => media.media_type.as_str(),
    };
    match &media.data {
        MediaData::Base64(data) => json!({"inlineData": {"mimeType": media_type, "data": data}}),
        // If the media type is unknown, the service finds it itself.
        MediaData::Url(url) if media_type.ends_with('*') => json!({"fileData": {"fileUri": url}}),
        MediaData::Url(url) => json!({"fileData": {"mimeType": media_type, "fileUri": url}}),
    }
}
