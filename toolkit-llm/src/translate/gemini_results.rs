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
        let fields = response.and_then(Value::as_object);
        if let Some(error) = fields.and_then(|fields| fields.get("error"))
            && fields.is_some_and(|fields| !fields.contains_key("output"))
        {
            let text = error.as_str().map_or_else(|| error.to_string(), ToOwned::to_owned);
            return Err(ToolError::new(ErrorKind::Failed, text));
        }
        // If the response has neither `output` nor `error`, the response itself is the output.
        let output = fields.and_then(|fields| fields.get("output")).or(response);
        let output = output.map(|output| match output {
            Value::String(text) => Content::Text(text.clone()),
            value => json_content(value),
        });
        let media = list(self.0, "parts").iter().filter_map(media);
        let mut contents: Vec<Content> = output.into_iter().chain(media).collect();
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
    let kind = match media_type.split_once('/').map(|(kind, _)| kind) {
        Some("image") => Content::Image,
        Some("audio") => Content::Audio,
        _ => Content::File,
    };
    Some(kind(Box::new(Media { media_type, data, name: text_of(fields, "displayName") })))
}

/// Parses the results in `payload`. The payload is a history, one message, or one part of a message.
pub(super) fn parse(payload: &Value) -> Result<Vec<ToolResult>, WireError> {
    let listed = listed(payload, "a content, or a part with `functionResponse`")?;
    let entries = listed.iter().map(|(path, item)| {
        let calls =
            |part| read_call(part, false).map(|call| (CallKey { id: call.id, name: Some(call.name) }, part));
        let parts = parts(item, path)?;
        let calls = parts.iter().filter_map(calls).map(|(key, part)| Entry::Call(key, part));
        let results =
            parts.iter().filter_map(|part| Some(Entry::Result(WireResult::from_part(part)?.key(), part)));
        Ok(calls.chain(results).collect())
    });
    let found = identified(entries.collect::<Result<Vec<_>, WireError>>()?).into_iter();
    let results = found.filter_map(|(part, id)| {
        let result = WireResult::from_part(part)?;
        let result = ToolResult::new(id, result.name(), result.outcome());
        Some(store_received(&Gemini, result, part))
    });
    Ok(results.collect())
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

/// Returns the results in a history, each with an id. Each element of `messages` has the calls and results of
/// one message. If a result has no id, it gets the id of its call, which
/// [`parse_calls`](crate::ApiFormat::parse_calls) generates if necessary. If no call matches, the result gets
/// a new id.
fn identified<'a>(messages: impl IntoIterator<Item = Vec<Entry<'a>>>) -> Vec<(&'a Value, CallId)> {
    let mut pairing = Pairing::default();
    let mut call_ids: Vec<CallId> = Vec::new();
    let mut found: Vec<(&Value, Option<CallId>)> = Vec::new();
    for entries in messages {
        pairing.begin_turn();
        let calls = entries.iter().filter_map(|entry| match entry {
            Entry::Call(key, json) => Some((*json, key.id.as_deref())),
            Entry::Result(..) => None,
        });
        call_ids.extend(ids::complete(calls));
        for entry in entries {
            match entry {
                Entry::Call(key, _) => {
                    pairing.call(key);
                }
                Entry::Result(key, json) => {
                    let given = key.id.as_deref().map(CallId::from);
                    let call = pairing.result(key).and_then(|number| call_ids.get(number));
                    found.push((json, given.or_else(|| call.cloned())));
                }
            }
        }
    }
    let ids = ids::complete(found.iter().map(|(json, id)| (*json, id.as_ref().map(CallId::as_str))));
    found.into_iter().map(|(json, _)| json).zip(ids).collect()
}
