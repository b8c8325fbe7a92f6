//! Results of calls in the form of the protocol.

use crate::numbers::is_exact;
use data_encoding::BASE64;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;
use toolkit_core::output::MediaData;
use toolkit_core::{Content, Media, ToolError, ToolOutput};

/// Returns the result of a successful call.
///
/// A tool with an output schema but no structured value gets the JSON output as structured content, or
/// `full_json` if it was truncated. Numbers that a JSON value cannot hold leave the result without structured
/// content.
///
/// # Errors
/// The structured content does not fit the output schema, or the JSON output is nested too deep for a value.
pub(crate) fn success(
    output: ToolOutput,
    name: &str,
    schema: Option<&Value>,
    full_json: impl FnOnce() -> Option<Value>,
) -> Result<CallToolResult, ToolError> {
    let mut structured = match (output.structured(), output.content()) {
        (Some(value), _) => Some(value.clone()),
        (None, [Content::Json(json)]) if schema.is_some() => match json.to_value() {
            Ok(value) => Some(value),
            Err(error) => {
                let text = format!("the output of tool `{name}` cannot be structured content: {error}");
                return Err(ToolError::failed(text));
            }
        },
        (None, _) if schema.is_some() => full_json(),
        _ => None,
    };
    if let (Some(schema), Some(value)) = (schema, &structured) {
        match is_exact(schema, value) {
            Ok(true) => {}
            Ok(false) => structured = None,
            Err(first) => {
                let text = format!("the output of tool `{name}` does not fit its output schema: {first}");
                return Err(ToolError::failed(text).with_details(value.to_string()));
            }
        }
    }
    let message = output.message().to_owned();
    let contents = output.into_content();
    let mut blocks = Vec::with_capacity(contents.len() + usize::from(!message.is_empty()));
    for (index, content) in contents.into_iter().enumerate() {
        blocks.push(block(content, index));
    }
    if !message.is_empty() {
        blocks.push(ContentBlock::text(message));
    }
    let mut result = CallToolResult::success(blocks);
    result.structured_content = structured;
    Ok(result)
}

pub(crate) fn failure(error: &ToolError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.message())])
}

pub(crate) fn block(content: Content, index: usize) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(text),
        Content::Json(json) => ContentBlock::text(json.into_string()),
        Content::Image(media) => item(*media, index, |data, kind, _| ContentBlock::image(data, kind)),
        Content::Audio(media) => item(*media, index, |data, kind, _| ContentBlock::audio(data, kind)),
        Content::File(media) => item(*media, index, |data, kind, name| {
            ContentBlock::resource(embedded(kind, data, attachment(name, index)))
        }),
        Content::Resource(resource) => {
            let mut linked = rmcp::model::Resource::new(resource.uri, resource.name);
            linked.mime_type = resource.media_type;
            ContentBlock::resource_link(linked)
        }
        other => ContentBlock::text(other.to_text()),
    }
}

/// Returns the block that `inline` makes of a media item. A media item with a URL becomes a link.
fn item(
    Media { media_type, data, name }: Media,
    index: usize,
    inline: impl FnOnce(String, String, Option<String>) -> ContentBlock,
) -> ContentBlock {
    match data {
        MediaData::Base64(data) => inline(data, media_type, name),
        MediaData::Url(uri) => {
            let name = name.unwrap_or_else(|| format!("attachment {}", index + 1));
            ContentBlock::resource_link(rmcp::model::Resource::new(uri, name).with_mime_type(media_type))
        }
    }
}

pub(crate) fn resource_contents(content: Content, uri: &str, media_type: Option<&str>) -> ResourceContents {
    let typed =
        |contents: ResourceContents, default: &str| contents.with_mime_type(media_type.unwrap_or(default));
    match content {
        Content::Json(json) => typed(ResourceContents::text(json.into_string(), uri), "application/json"),
        Content::Image(media) | Content::Audio(media) | Content::File(media) => match *media {
            Media { data: MediaData::Base64(data), media_type: own, .. } => {
                embedded(media_type.map_or(own, str::to_owned), data, uri.to_owned())
            }
            Media { data: MediaData::Url(url), .. } => {
                typed(ResourceContents::text(url, uri), "text/uri-list")
            }
        },
        other => typed(ResourceContents::text(other.to_text(), uri), "text/plain"),
    }
}

fn attachment(name: Option<String>, index: usize) -> String {
    match name {
        Some(name) if name.contains("://") => name,
        Some(name) => format!("attachment:///{name}"),
        None => format!("attachment:///{}", index + 1),
    }
}

/// Returns a file as text if the media type is a text format, and as bytes otherwise.
fn embedded(media_type: String, data: String, uri: String) -> ResourceContents {
    if is_text(&media_type)
        && let Ok(bytes) = BASE64.decode(data.as_bytes())
        && let Ok(text) = String::from_utf8(bytes)
    {
        return ResourceContents::text(text, uri).with_mime_type(media_type);
    }
    ResourceContents::blob(data, uri).with_mime_type(media_type)
}

fn is_text(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    essence.starts_with("text/") || essence == "application/json" || essence.ends_with("+json")
}

/// Returns the content of a JSON string, and the JSON text of any other value.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
