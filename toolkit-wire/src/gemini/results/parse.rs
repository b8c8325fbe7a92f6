//! Parses results from a history.

use super::{MEDIA, encode_result};
use crate::WireError;
use crate::fields::{Fields, field};
use crate::gemini::FACTS;
use crate::gemini::call::read as read_call;
use crate::gemini::spelling::{get, list};
use crate::pairing::{Entry, Key, identified};
use crate::results::{keep, listed};
use serde_json::Value;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, JsonText, Media, MediaData, ToolOutput};
use toolkit_core::{ErrorKind, ToolError, ToolResult};

/// A result in a part: `{functionResponse: {id?, name, response, parts?}}`.
#[derive(Clone, Copy)]
pub(in crate::gemini) struct WireResult<'a>(&'a Fields);

impl<'a> WireResult<'a> {
    /// Returns the result in `part`, or `None` for other parts.
    pub(in crate::gemini) fn of(part: &'a Value) -> Option<Self> {
        get(part.as_object()?, "functionResponse")?.as_object().map(Self)
    }

    /// Returns the key that identifies the call of this result.
    pub(in crate::gemini) fn key(self) -> Key<'a> {
        Key { id: self.id().map(Into::into), name: Some(self.name()) }
    }

    fn id(self) -> Option<&'a str> {
        get(self.0, "id").and_then(Value::as_str).filter(|id| !id.is_empty())
    }

    fn name(self) -> &'a str {
        get(self.0, "name").and_then(Value::as_str).unwrap_or_default()
    }

    fn outcome(self) -> Result<ToolOutput, ToolError> {
        let response = get(self.0, "response");
        let fields = response.and_then(Value::as_object);
        if let Some(error) = fields.and_then(|fields| fields.get("error"))
            && fields.is_some_and(|fields| !fields.contains_key("output"))
        {
            return Err(ToolError::new(ErrorKind::Failed, text(error)));
        }
        // If the response has neither `output` nor `error`, the response itself is the output.
        let output = fields.and_then(|fields| fields.get("output")).or(response);
        let mut contents = self.contents(output);
        Ok(match contents.pop() {
            Some(only) if contents.is_empty() => only.into(),
            last => {
                contents.extend(last);
                ToolOutput::new(contents)
            }
        })
    }

    /// Returns the contents of a result: `output`, followed by the media items in `parts`. Lines that only
    /// name a media item are left out.
    fn contents(self, output: Option<&Value>) -> Vec<Content> {
        let mut media: Vec<Content> = list(self.0, "parts").iter().filter_map(media).collect();
        let said = match output {
            None => None,
            Some(Value::String(text)) => without_names(text, &mut media).map(Content::Text),
            Some(value) => JsonText::new(value).ok().map(Content::Json),
        };
        said.into_iter().chain(media).collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// Removes the lines in which [`encode_result`](super::encode_result) names media items, and sets the file
/// names of `media` from these lines. Returns `None` if no other lines remain.
fn without_names(text: &str, media: &mut [Content]) -> Option<String> {
    let mut unnamed = media.iter_mut().peekable();
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let name = unnamed.peek().and_then(|next| file_name(line, &next.to_text()).map(ToOwned::to_owned));
        match (name, unnamed.next_if(|next| file_name(line, &next.to_text()).is_some())) {
            (Some(name), Some(Content::Image(media) | Content::Audio(media) | Content::File(media))) => {
                if !name.is_empty() {
                    media.name = Some(name);
                }
            }
            _ => lines.push(line),
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the file name in a line that names a media item. `unnamed` is the line for the same item without a file
/// name. If `unnamed` is `[image image/png]`, the file name in `[image image/png chart.png]` is `chart.png`.
///
/// Returns an empty string if `line` equals `unnamed`, and `None` for lines that name no such item.
fn file_name<'a>(line: &'a str, unnamed: &str) -> Option<&'a str> {
    let name = line.strip_prefix(unnamed.strip_suffix(']')?)?.strip_suffix(']')?;
    if name.is_empty() { Some(name) } else { name.strip_prefix(' ') }
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
pub(in crate::gemini) fn parse_results(payload: &Value) -> Result<Vec<ToolResult>, WireError> {
    let listed = listed(payload, "a content, or a part with `functionResponse`")?;
    let entries = listed.iter().map(|(path, item)| {
        let calls =
            |part| read_call(part, false).map(|call| (Key { id: call.id, name: Some(call.name) }, part));
        let parts = parts(item, path)?;
        let calls = parts.iter().filter_map(calls).map(|(key, part)| Entry::Call(key, part));
        let results = parts.iter().filter_map(|part| Some(Entry::Result(WireResult::of(part)?.key(), part)));
        Ok(calls.chain(results).collect())
    });
    let found = identified(entries.collect::<Result<Vec<_>, WireError>>()?).into_iter();
    let results = found.filter_map(|(part, id)| {
        let result = WireResult::of(part)?;
        let result = ToolResult::new(id, result.name(), result.outcome());
        let written = encode_result(&MEDIA, &result, &WireNames::default());
        Some(keep(result, FACTS.name, part, &written))
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
