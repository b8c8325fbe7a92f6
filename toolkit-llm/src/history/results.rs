//! Writes elements of tool results for several APIs.

use crate::facts::media::{MediaTable, accepted};
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::output::{Content, JsonText, MediaData, ToolOutput};
use toolkit_core::{ToolError, ToolResult};

/// Returns the contents of an output as text, with the output's message on a separate line.
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

/// Returns the contents of an output as parts, with the output's message as a text part.
pub(crate) fn output_parts(
    output: &ToolOutput,
    part: impl Fn(&Content) -> Value,
    text_part: impl Fn(&str) -> Value,
) -> Vec<Value> {
    let mut parts = Vec::with_capacity(output.content().len() + 1);
    parts.extend(output.content().iter().map(part));
    if !output.message().is_empty() {
        parts.push(text_part(output.message()));
    }
    parts
}

/// Returns whether a text has only white space. Some providers refuse such texts.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Returns an error's text, for APIs that refuse blank texts.
pub(crate) fn error_message(error: &ToolError) -> &str {
    if is_blank(error.message()) { "The call failed for an unknown reason." } else { error.message() }
}

/// Returns a text for content that the API does not accept.
///
/// It names a media item by its URL, or states that embedded bytes cannot be shown.
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

/// Returns the text for a content of a result.
///
/// For a media item, it depends on where the API accepts the item: in the result, in a message after it, or
/// nowhere.
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

/// Returns the media items that follow the results in a message, each with a label of its name and its call.
pub(crate) fn attachments<'a>(
    table: &'static MediaTable,
    result: &'a ToolResult,
    id: &'a str,
    name: String,
) -> impl Iterator<Item = (String, &'a Content)> {
    let contents = result.outcome.as_ref().map_or(&[][..], ToolOutput::content).iter();
    let attached = contents.filter(|content| is_attached(table, content));
    attached.map(move |content| (format!("{} from tool call {id} ({name}):", content.to_text()), content))
}

fn is_attached(table: &MediaTable, content: &Content) -> bool {
    accepted(table.results, content).is_none() && accepted(table.messages, content).is_some()
}

pub(crate) fn json_content(value: &Value) -> Content {
    JsonText::new(value).map_or_else(|_| Content::Text(value.to_string()), Content::Json)
}
