//! Converts the contents of messages and results to content blocks, and back.

use crate::fields::{Fields, set, text};
use crate::media::{base64, essence};
use crate::results::{json_content, unsendable};
use serde_json::{Value, json};
use std::collections::HashMap;
use toolkit_core::name::fnv1a;
use toolkit_core::output::{Content, Media, MediaData};

/// The media types of images and documents accepted by the service, with the names of their formats.
const FORMATS: [(&str, &str); 14] = [
    ("image/png", "png"),
    ("image/jpeg", "jpeg"),
    ("image/jpg", "jpeg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("application/pdf", "pdf"),
    ("text/csv", "csv"),
    ("application/msword", "doc"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("text/html", "html"),
    ("text/plain", "txt"),
    ("text/markdown", "md"),
];

/// The maximum length of the name of a document.
const LONGEST_NAME: usize = 200;

/// Returns whether a text is blank. The service refuses blank texts.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Encodes one [`Content`] as a content block.
///
/// The block of an unsupported media item is a text that names the item. An image has no field for a name.
pub(super) fn block(content: &Content) -> Value {
    let media = match content {
        Content::Image(media) => encode(media, "image"),
        Content::File(media) => encode(media, "document"),
        _ => None,
    };
    media.unwrap_or_else(|| json!({"text": unsendable(content)}))
}

fn encode(media: &Media, kind: &str) -> Option<Value> {
    let essence = essence(&media.media_type);
    let (_, format) = FORMATS.iter().find(|(media_type, _)| *media_type == essence)?;
    let source = match &media.data {
        MediaData::Url(url) if url.starts_with("s3://") => json!({"s3Location": {"uri": url}}),
        _ => json!({"bytes": base64(media).filter(|data| !data.is_empty())?}),
    };
    let mut block = Fields::new();
    set(&mut block, "format", *format);
    if kind == "document" {
        set(&mut block, "name", document_name(media));
    }
    set(&mut block, "source", source);
    Some(json!({kind: block}))
}

/// Returns the name of a document, which the service requires.
///
/// The name consists of letters, digits, hyphens, parentheses, brackets and single spaces. A name made for a
/// document without a name depends on the data, because the names within a request must be different.
fn document_name(media: &Media) -> String {
    let (MediaData::Base64(data) | MediaData::Url(data)) = &media.data;
    let legal = |c: char| if c.is_ascii_alphanumeric() || "-()[]".contains(c) { c } else { ' ' };
    let name: String = media.name.as_deref().unwrap_or_default().chars().map(legal).collect();
    let name: String =
        name.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST_NAME).collect();
    match name.trim_end() {
        "" => format!("document {:08x}", fnv1a(data, 0) as u32),
        name => name.to_owned(),
    }
}

/// Gives documents with the same name in one message different names, as the service requires.
pub(super) fn number_documents(blocks: &mut [Value]) {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for document in blocks.iter_mut().filter_map(|block| block.get_mut("document")) {
        let name = text(document, "name").to_owned();
        let uses = uses.entry(name.clone()).or_default();
        *uses += 1;
        if *uses > 1 {
            let kept: String = name.chars().take(LONGEST_NAME - 20).collect();
            document["name"] = format!("{kept} ({uses})").into();
        }
    }
}

/// Parses a content block into a [`Content`]. A block of an unknown kind is kept as JSON.
pub(super) fn content(block: &Value) -> Content {
    let text = block.get("text").and_then(Value::as_str).map(|text| Content::Text(text.to_owned()));
    let known = text
        .or_else(|| block.get("json").map(json_content))
        .or_else(|| Some(Content::Image(Box::new(media(block.get("image")?, "image/")?))))
        .or_else(|| Some(Content::File(Box::new(media(block.get("document")?, "")?))));
    known.unwrap_or_else(|| json_content(block))
}

fn media(block: &Value, kind: &str) -> Option<Media> {
    let format = text(block, "format");
    let is_type = |media_type: &str, name: &str| name == format && media_type.starts_with(kind);
    let (media_type, _) = FORMATS.iter().find(|(media_type, name)| is_type(media_type, name))?;
    let source = block.get("source")?;
    let string = |value: Option<&Value>| value.and_then(Value::as_str).map(ToOwned::to_owned);
    let data = match string(source.get("bytes")) {
        Some(data) => MediaData::Base64(data),
        None => MediaData::Url(string(source.pointer("/s3Location/uri"))?),
    };
    Some(Media { media_type: (*media_type).to_owned(), data, name: string(block.get("name")) })
}
