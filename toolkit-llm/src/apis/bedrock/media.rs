//! Converts the contents of messages and results to content blocks.

use crate::facts::media::{IMAGES, MediaKind, MediaRule, MediaTable, Urls, accepted, canonical};
use crate::history::results::unsendable;
use crate::json::fields::{Fields, set, text};
use serde_json::{Value, json};
use std::collections::HashSet;
use toolkit_core::name::fnv1a;
use toolkit_core::output::{Content, Media, MediaData};

/// The accepted media items, from the AWS service model.
pub(super) const MEDIA: MediaTable = MediaTable { messages: ACCEPTED, results: ACCEPTED };

const ACCEPTED: &[MediaRule] = &[
    MediaRule { kind: MediaKind::Image, types: IMAGES, urls: Urls::Only("s3://") },
    MediaRule { kind: MediaKind::File, types: DOCUMENTS, urls: Urls::Only("s3://") },
];

const DOCUMENTS: &[&str] = &[
    "application/pdf",
    "text/csv",
    "application/msword",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.ms-excel",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "text/html",
    "text/plain",
    "text/markdown",
];

/// The format names of media types.
///
/// By default, the format name is the subtype.
const FORMATS: [(&str, &str); 6] = [
    ("application/msword", "doc"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("text/plain", "txt"),
    ("text/markdown", "md"),
];

/// The maximum length of a document name in characters.
const LONGEST_NAME: usize = 200;

/// Encodes one [`Content`] as a content block.
///
/// An unsupported media item becomes a text that names it. Image blocks have no field for a name.
pub(super) fn block(content: &Content) -> Value {
    let media = accepted(ACCEPTED, content).and_then(|(kind, media)| encode(media, kind));
    media.unwrap_or_else(|| json!({"text": unsendable(content)}))
}

fn encode(media: &Media, kind: MediaKind) -> Option<Value> {
    let essence = canonical(&media.media_type);
    let format = match FORMATS.iter().find(|(media_type, _)| *media_type == essence) {
        Some((_, name)) => name,
        None => essence.split('/').nth(1)?,
    };
    let source = match &media.data {
        MediaData::Url(url) => json!({"s3Location": {"uri": url}}),
        MediaData::Base64(data) => json!({"bytes": data}),
    };
    let mut block = Fields::new();
    set(&mut block, "format", format);
    if kind != MediaKind::Image {
        set(&mut block, "name", document_name(media));
    }
    set(&mut block, "source", source);
    Some(json!({if kind == MediaKind::Image { "image" } else { "document" }: block}))
}

/// Returns the name of a document, which the service requires.
///
/// It consists of letters, digits, hyphens, parentheses, brackets and single spaces. A missing name is
/// derived from the data.
fn document_name(media: &Media) -> String {
    let (MediaData::Base64(data) | MediaData::Url(data)) = &media.data;
    let mut name = String::new();
    for c in media.name.as_deref().unwrap_or_default().chars() {
        if c.is_ascii_alphanumeric() || "-()[]".contains(c) {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with(' ') {
            name.push(' ');
        }
    }
    // All characters are ASCII.
    name.truncate(LONGEST_NAME);
    match name.trim_end() {
        "" => format!("document {:08x}", fnv1a(data, 0) as u32),
        name => name.to_owned(),
    }
}

/// Gives all documents of a request different names.
///
/// The service requires it, and ignores the case of names.
pub(super) fn number_documents<'a>(blocks: impl IntoIterator<Item = &'a mut Value>) {
    let mut taken = HashSet::new();
    for block in blocks {
        number(block, &mut taken);
    }
}

fn number(block: &mut Value, taken: &mut HashSet<String>) {
    if let Some(Value::Array(blocks)) = block.pointer_mut("/toolResult/content") {
        for block in blocks {
            number(block, taken);
        }
        return;
    }
    let Some(document) = block.get_mut("document") else { return };
    let name = text(document, "name").to_owned();
    let start: String = name.chars().take(LONGEST_NAME - 20).collect();
    let mut new = name.clone();
    let mut count = 1;
    while !taken.insert(new.to_ascii_lowercase()) {
        count += 1;
        new = format!("{start} ({count})");
    }
    if new != name {
        document["name"] = new.into();
    }
}
