//! Encodes results as the parts of one message.

use super::call::sendable_id;
use super::{FACTS, Gemini};
use crate::codec::ResultCodec;
use crate::fields::{Fields, set};
use crate::repair::user_message;
use crate::results::output_text;
use crate::{WireError, history};
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, JsonText, Media, MediaData, ToolOutput};

pub(super) use parse::WireResult;

mod parse;

impl ResultCodec for Gemini {
    /// Encodes all results in one message. The service requires one result for each call, in the order of the
    /// calls. If a result has no id, the service finds its call by position.
    fn encode_results(&self, results: &[ToolResult], _ids: &[String], names: &WireNames) -> Vec<Value> {
        user_message("parts", results.iter().map(|result| encode_result(result, names)).collect())
    }

    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        parse::parse_results(payload)
    }
}

pub(super) fn encode_result(result: &ToolResult, names: &WireNames) -> Value {
    let mut answer = Fields::new();
    if let Some(id) = sendable_id(result.call_id.as_str()) {
        set(&mut answer, "id", id);
    }
    set(&mut answer, "name", history::name(FACTS.names, names.spell(&result.name)));
    let response = match &result.outcome {
        Ok(output) => json!({"output": output_value(output)}),
        Err(error) => json!({"error": error.message()}),
    };
    set(&mut answer, "response", response);
    let contents = result.outcome.as_ref().map_or(&[][..], ToolOutput::content);
    let media: Vec<Value> = contents.iter().filter_map(media).map(media_part).collect();
    if !media.is_empty() {
        set(&mut answer, "parts", media);
    }
    json!({"functionResponse": answer})
}

/// Returns the JSON for an output. A single JSON value stays unchanged. Any other output becomes text, with
/// the names of media items.
fn output_value(output: &ToolOutput) -> Value {
    match (output.content(), output.message()) {
        ([Content::Json(json)], "") => json_value(json),
        _ => output_text(output, Content::to_text).into(),
    }
}

/// Returns the JSON of one [`Content`]. The service stores every number as a double. If a number in the value
/// would be rounded, the value is sent as text.
fn json_value(json: &JsonText) -> Value {
    match serde_json::from_str(json.as_str()) {
        Ok(value) if is_exact(&value) => value,
        _ => json.as_str().into(),
    }
}

/// Returns whether every number in the value can be stored as a double without rounding.
///
/// Recursion is safe, because the parser limits the depth of the value.
fn is_exact(value: &Value) -> bool {
    /// 2^53. Doubles represent all integers up to this one exactly.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() < LARGEST),
        Value::Array(values) => values.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

pub(super) fn media(content: &Content) -> Option<&Media> {
    match content {
        Content::Image(media) | Content::Audio(media) | Content::File(media) => Some(media),
        _ => None,
    }
}

/// Encodes a media item as a part. Only some versions of the API have a field for the file name, so the name
/// is part of the text instead.
pub(super) fn media_part(media: &Media) -> Value {
    let media_type = &media.media_type;
    match &media.data {
        MediaData::Base64(data) => json!({"inlineData": {"mimeType": media_type, "data": data}}),
        MediaData::Url(url) => json!({"fileData": {"mimeType": media_type, "fileUri": url}}),
    }
}
