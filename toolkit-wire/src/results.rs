//! Reads and writes the elements of tool results that several APIs share.

use crate::WireError;
use crate::codec::ResultCodec;
use crate::fields::{element, field, list};
use crate::media::{MediaTable, accepted};
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::call::ProviderExtras;
use toolkit_core::output::{Content, JsonText, MediaData, ToolOutput};
use toolkit_core::{ToolError, ToolResult};

/// The provider extra with the JSON of a received result. The extras of a result also contain the extras of its call,
/// so the JSON has a field of its own.
pub(crate) const RECEIVED: &str = "tool_result";

/// Stores the JSON of a received result, unless the result is `written` in the same way.
pub(crate) fn keep(result: ToolResult, api: &str, received: &Value, written: &Value) -> ToolResult {
    if received == written {
        return result;
    }
    let mut extras = result.extras.of(api).cloned().unwrap_or_default();
    extras.insert(RECEIVED.to_owned(), received.clone());
    result.with_extras(ProviderExtras::new(api, extras))
}

/// Returns the JSON of a received result. Returns `None` for other results, and after a change of the outcome.
pub(crate) fn received<'a>(codec: &dyn ResultCodec, api: &str, result: &'a ToolResult) -> Option<&'a Value> {
    let received = result.extras.get(api, RECEIVED)?;
    let parsed = codec.parse_results(received).ok()?;
    matches!(parsed.as_slice(), [only] if only.outcome == result.outcome).then_some(received)
}

/// Returns the JSON of a received result with the `own` fields of `written`: the ids and names of the new request. The
/// fields are JSON pointers. Any other result stays as `written`.
pub(crate) fn as_received(
    codec: &dyn ResultCodec,
    api: &str,
    own: &[&str],
    result: &ToolResult,
    written: Value,
) -> Value {
    let Some(mut json) = received(codec, api, result).cloned() else { return written };
    for pointer in own {
        let Some((parent, name)) = pointer.rsplit_once('/') else { continue };
        let Some(fields) = json.pointer_mut(parent).and_then(Value::as_object_mut) else { continue };
        match written.pointer(pointer) {
            Some(value) => drop(fields.insert(name.to_owned(), value.clone())),
            None => drop(fields.shift_remove(name)),
        }
    }
    json
}

/// Returns the contents of an output as text, followed by the output's message on a separate line.
pub(crate) fn output_text<'a>(
    output: &'a ToolOutput,
    text: impl Fn(&'a Content) -> Cow<'a, str>,
) -> Cow<'a, str> {
    let contents = match output.content() {
        [only] => text(only),
        list => Cow::Owned(list.iter().map(text).collect::<Vec<_>>().join("\n")),
    };
    match (contents.is_empty(), output.message()) {
        (_, "") => contents,
        (true, message) => Cow::Borrowed(message),
        (false, message) => Cow::Owned(format!("{contents}\n{message}")),
    }
}

/// Returns whether a text is empty or only white space. Some providers refuse such texts.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Returns the text to send for an error, in APIs that refuse blank texts.
pub(crate) fn error_message(error: &ToolError) -> &str {
    if is_blank(error.message()) { "The call failed for an unknown reason." } else { error.message() }
}

/// Returns the content blocks of the message `item`, each with its path. If `item` itself is a block, it is
/// returned.
pub(crate) fn listed_blocks(
    item: &Value,
    path: String,
    is_block: impl Fn(&Value) -> bool,
) -> Result<Vec<(String, &Value)>, WireError> {
    if is_block(item) {
        return Ok(vec![(path, item)]);
    }
    match item.get("role").and_then(Value::as_str) {
        Some("user" | "assistant" | "system") => {}
        // A message with another role may contain results in the format of another API. They would be lost.
        _ => return Err(WireError::new(field(&path, "role"), "`user`, which marks messages with results")),
    }
    let path = field(&path, "content");
    let blocks = list(item, "content").iter().enumerate();
    Ok(blocks.map(|(index, block)| (element(&path, index), block)).collect())
}

/// Returns a text to send instead of a content that the API does not accept. The text names a media item by
/// its URL, if it has one. If the item embeds its bytes, the text states that it cannot be shown.
pub(crate) fn unsendable(content: &Content) -> Cow<'_, str> {
    let text = content.to_text();
    match content {
        Content::Audio(media) | Content::File(media) | Content::Image(media)
            if matches!(media.data, MediaData::Base64(_)) =>
        {
            Cow::Owned(format!("{text} cannot be shown: this API has no way to send it"))
        }
        _ => text,
    }
}

/// Returns the text for a content of a tool result. For a media item, the text depends on where the API
/// accepts it: in the result itself, in a message after the results, or nowhere.
pub(crate) fn result_text<'a>(table: &MediaTable, content: &'a Content) -> Cow<'a, str> {
    if accepted(table.results, content).is_some() {
        return content.to_text();
    }
    match accepted(table.messages, content) {
        Some(_) => {
            Cow::Owned(format!("{} follows in the user message after the tool results", content.to_text()))
        }
        None => unsendable(content),
    }
}

/// Returns the media items of a result that are sent in a message after the results, each with a label. The label names
/// the media item and the call that returned it.
pub(crate) fn attachments<'a>(
    table: &'static MediaTable,
    result: &'a ToolResult,
    id: &'a str,
    name: String,
) -> impl Iterator<Item = (String, &'a Content)> {
    let contents = result.outcome.as_ref().map_or(&[][..], ToolOutput::content).iter();
    let attached = contents.filter(|content| {
        accepted(table.results, content).is_none() && accepted(table.messages, content).is_some()
    });
    attached.map(move |content| (format!("{} from tool call {id} ({name}):", content.to_text()), content))
}

/// Returns the messages in `payload`, each with its path. `payload` is a list of messages or a single
/// message.
pub(crate) fn listed<'a>(payload: &'a Value, expected: &str) -> Result<Vec<(String, &'a Value)>, WireError> {
    match payload {
        Value::Array(items) => {
            Ok(items.iter().enumerate().map(|(index, item)| (element("", index), item)).collect())
        }
        Value::Object(_) => Ok(vec![(String::new(), payload)]),
        _ => Err(WireError::new("", expected)),
    }
}

/// Converts a value of an unknown kind into JSON content.
pub(crate) fn json_content(value: &Value) -> Content {
    JsonText::new(value).map_or_else(|_| Content::Text(value.to_string()), Content::Json)
}
