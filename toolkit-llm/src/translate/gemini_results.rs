//! Reads results from a history of Gemini's API.

use super::received_results::{listed, store_received};
use crate::apis::gemini::Gemini;
use crate::apis::gemini::read::{WireResult, read_call};
use crate::apis::gemini::spelling::{get, list};
use crate::call::ids;
use crate::call::pairing::{CallKey, Entry, Pairing};
use crate::history::results::json_content;
use crate::json::WireError;
use crate::json::fields::{Fields, field};
use serde_json::Value;
use toolkit_core::call::CallId;
use toolkit_core::output::{Content, Media, MediaData, ToolOutput};
use toolkit_core::{ErrorKind, ToolError, ToolResult};

impl WireResult<'_> {
    fn outcome(self) -> Result<ToolOutput, ToolError> {
        let response = get(self.0, "response");
        // Without `output` and `error`, the response itself is the output.
        let mut output = response;
        if let Some(Value::Object(fields)) = response {
            match (fields.get("output"), fields.get("error")) {
                (Some(given), _) => output = Some(given),
                (None, Some(Value::String(text))) => {
                    return Err(ToolError::new(ErrorKind::Failed, text.clone()));
                }
                (None, Some(error)) => return Err(ToolError::new(ErrorKind::Failed, error.to_string())),
                (None, None) => {}
            }
        }
        let mut contents = Vec::new();
        match output {
            Some(Value::String(text)) => contents.push(Content::Text(text.clone())),
            Some(value) => contents.push(json_content(value)),
            None => {}
        }
        contents.extend(list(self.0, "parts").iter().filter_map(media));
        Ok(if contents.len() == 1 { contents.remove(0).into() } else { ToolOutput::new(contents) })
    }
}

fn media(part: &Value) -> Option<Content> {
    let part = part.as_object()?;
    let inline = get(part, "inlineData").and_then(Value::as_object);
    let file = get(part, "fileData").and_then(Value::as_object);
    let text_of = |fields: &Fields, name| get(fields, name).and_then(Value::as_str).map(ToOwned::to_owned);
    let (fields, data) = match (inline, file) {
        (Some(inline), _) => (inline, MediaData::Base64(text_of(inline, "data")?)),
        (None, Some(file)) => (file, MediaData::Url(text_of(file, "fileUri")?)),
        (None, None) => return None,
    };
    let media_type = text_of(fields, "mimeType").unwrap_or_else(|| "application/octet-stream".to_owned());
    let kind = match media_type.split_once('/') {
        Some(("image", _)) => Content::Image,
        Some(("audio", _)) => Content::Audio,
        _ => Content::File,
    };
    Some(kind(Box::new(Media { media_type, data, name: text_of(fields, "displayName") })))
}

/// Parses the results in a history, message or part.
pub(super) fn parse(payload: &Value) -> Result<Vec<ToolResult>, WireError> {
    let mut messages = Vec::new();
    for (path, item) in listed(payload, "a content, or a part with `functionResponse`")? {
        messages.push(entries(parts(item, &path)?));
    }
    let mut results = Vec::new();
    for (part, id) in identified(messages) {
        let Some(response) = WireResult::from_part(part) else { continue };
        let result = ToolResult::new(id, response.name(), response.outcome());
        results.push(store_received(&Gemini, result, part));
    }
    Ok(results)
}

fn entries(parts: &[Value]) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    for part in parts {
        if let Some(call) = read_call(part, false) {
            entries.push(Entry::Call(CallKey { id: call.id, name: Some(call.name) }, part));
        }
    }
    for part in parts {
        if let Some(result) = WireResult::from_part(part) {
            entries.push(Entry::Result(result.key(), part));
        }
    }
    entries
}

fn parts<'a>(item: &'a Value, path: &str) -> Result<&'a [Value], WireError> {
    let Some(fields) = item.as_object() else {
        return Err(WireError::new(path, "a content, or a part with `functionResponse`"));
    };
    match fields.get("parts") {
        Some(Value::Array(parts)) => Ok(parts),
        None if !["role", "content", "type"].iter().any(|name| fields.contains_key(*name)) => {
            Ok(std::slice::from_ref(item))
        }
        _ => Err(WireError::new(field(path, "parts"), "a list of parts")),
    }
}

/// Returns the results, each with an id.
///
/// `messages` has the calls and results of each message. Without an id of its own, a result gets that of its
/// call, as [`parse_calls`](crate::ApiFormat::parse_calls) generates it, or a new one.
fn identified<'a>(messages: impl IntoIterator<Item = Vec<Entry<'a>>>) -> Vec<(&'a Value, CallId)> {
    let mut pairing = Pairing::default();
    let mut call_ids: Vec<CallId> = Vec::new();
    let mut found: Vec<(&Value, Option<CallId>)> = Vec::new();
    for entries in messages {
        pairing.begin_turn();
        let mut calls = Vec::new();
        for entry in &entries {
            if let Entry::Call(key, json) = entry {
                calls.push((*json, key.id.as_deref()));
            }
        }
        call_ids.extend(ids::complete(calls));
        for entry in entries {
            match entry {
                Entry::Call(key, _) => {
                    pairing.call(key);
                }
                Entry::Result(key, json) => {
                    let given = key.id.as_deref().map(CallId::from);
                    let id = match (pairing.result(key), given) {
                        (Some(number), None) => call_ids.get(number).cloned(),
                        (_, given) => given,
                    };
                    found.push((json, id));
                }
            }
        }
    }
    let ids = ids::complete(found.iter().map(|(json, id)| (*json, id.as_ref().map(CallId::as_str))));
    found.into_iter().map(|(json, _)| json).zip(ids).collect()
}
