//! Results read back out of a history.

use super::part::WireCall;
use super::spelling::{Fields, get, list};
use crate::WireError;
use crate::ids;
use crate::path::{element, field};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::VecDeque;
use toolkit_core::ToolResult;
use toolkit_core::call::CallId;
use toolkit_core::output::{Content, JsonText, Media, MediaData, ToolOutput};
use toolkit_core::{ErrorKind, ToolError};

/// A result as it stands in a part: `{functionResponse: {id?, name, response, parts?}}`.
#[derive(Clone, Copy)]
pub(super) struct WireAnswer<'a>(&'a Fields);

impl<'a> WireAnswer<'a> {
    /// `None` if the part holds something else.
    pub(super) fn of(part: &'a Value) -> Option<Self> {
        get(part.as_object()?, "functionResponse")?.as_object().map(Self)
    }

    pub(super) fn id(self) -> Option<&'a str> {
        get(self.0, "id").and_then(Value::as_str).filter(|id| !id.is_empty())
    }

    pub(super) fn name(self) -> &'a str {
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
        // Without these two keys, all of it is the output.
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

    /// The output and the media beside it, without the lines that only name them.
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

/// The text without the lines that [`encode_results`](super::results::encode_results) writes for the
/// media, which tell the names of files. `None` if there are no others.
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

/// The name in `[image image/png chart.png]`, given `[image image/png]`; empty if there is none, and
/// `None` if the line is another text.
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

/// What stands in a history, in order.
enum Entry<'a> {
    Calls(Vec<WireCall<'a>>),
    Answer(WireAnswer<'a>),
}

pub(super) fn parse_results(payload: &Value) -> Result<Vec<ToolResult>, WireError> {
    let mut entries = Vec::new();
    match payload {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                read(item, &element("", index), &mut entries)?;
            }
        }
        _ => read(payload, "", &mut entries)?,
    }
    Ok(results(&entries))
}

fn read<'a>(item: &'a Value, path: &str, entries: &mut Vec<Entry<'a>>) -> Result<(), WireError> {
    let expected = "a content, or a part with `functionResponse`";
    let Some(fields) = item.as_object() else { return Err(WireError::new(path, expected)) };
    let parts = match fields.get("parts") {
        Some(Value::Array(parts)) => parts.as_slice(),
        Some(_) => return Err(WireError::new(field(path, "parts"), "a list of parts")),
        None if ["role", "content", "type"].iter().any(|name| fields.contains_key(*name)) => {
            return Err(WireError::new(field(path, "parts"), "a list of parts"));
        }
        None => std::slice::from_ref(item),
    };
    let calls: Vec<WireCall<'a>> = parts.iter().filter_map(WireCall::of).collect();
    if !calls.is_empty() {
        entries.push(Entry::Calls(calls));
    }
    entries.extend(parts.iter().filter_map(WireAnswer::of).map(Entry::Answer));
    Ok(())
}

/// A result without an id belongs to the first call of its name before it that has no result yet, and
/// gets the id that [`parse_calls`](super::calls::parse_calls) gives that call. If the calls are not
/// there, it gets one of its own.
fn results(entries: &[Entry<'_>]) -> Vec<ToolResult> {
    let mut open: VecDeque<(CallId, &str)> = VecDeque::new();
    let mut found: Vec<(WireAnswer<'_>, Option<CallId>)> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Calls(calls) => {
                let ids = ids::complete(calls.iter().map(|call| (call.call, call.id())));
                open = ids.into_iter().zip(calls.iter().map(|call| call.name())).collect();
            }
            Entry::Answer(answer) => {
                let at = open.iter().position(|(id, name)| match answer.id() {
                    Some(given) => id.as_str() == given,
                    None => *name == answer.name(),
                });
                let call = at.and_then(|at| open.remove(at)).map(|(id, _)| id);
                found.push((*answer, answer.id().map(CallId::from).or(call)));
            }
        }
    }
    let seeds: Vec<Value> = found.iter().map(|(answer, _)| json!(answer.0)).collect();
    let given = found.iter().map(|(_, id)| id.as_ref().map(|id| Cow::Borrowed(id.as_str())));
    let ids = ids::complete(seeds.iter().zip(given));
    let results = found.iter().zip(ids).enumerate().map(|(position, ((answer, _), id))| {
        ToolResult::new(id, answer.name(), answer.outcome()).with_position(position)
    });
    results.collect()
}
