//! Converts the contents of messages and results to content blocks.

use crate::facts::media::{IMAGES, MediaKind, MediaRule, MediaTable, Urls, accepted, canonical};
use crate::history::results::unsendable;
use crate::json::fields::{Fields, set, text};
use serde_json::{Value, json};
use std::collections::HashSet;
use toolkit_core::name::fnv1a;
use toolkit_core::output::{Content, Media, MediaData};

/// The media items that the API accepts, from the AWS service model. Messages and tool results accept the same items.
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

/// The format names of some media types. The format name of any other media type is its subtype.
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
/// An unsupported media item becomes a text block that names the item. The name of an image is dropped, because image
/// blocks have no field for a name.
pub(super) fn block(content: &Content) -> Value {
    let media = accepted(ACCEPTED, content).and_then(|(kind, media)| encode(media, kind));
    media.unwrap_or_else(|| json!({"text": unsendable(content)}))
}

fn encode(media: &Media, kind: MediaKind) -> Option<Value> {
    let essence = canonical(&media.media_type);
    let format = FORMATS.iter().find(|(media_type, _)| *media_type == essence).map(|(_, name)| *name);
    let format = format.or_else(|| essence.split('/').nth(1))?;
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
/// The name consists of letters, digits, hyphens, parentheses, brackets and single spaces. If the document
/// has no name, a name is derived from its data, because the names within a request must be different.
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

/// Gives documents with the same name different names, also documents in results. The service requires it for
/// all documents of a request, and ignores the case of names.
pub(super) fn number_documents<'a>(blocks: impl IntoIterator<Item = &'a mut Value>) {
    fn number(block: &mut Value, taken: &mut HashSet<String>) {
        if let Some(Value::Array(blocks)) = block.pointer_mut("/toolResult/content") {
            return blocks.iter_mut().for_each(|block| number(block, taken));
        }
        let Some(document) = block.get_mut("document") else { return };
        let name = text(document, "name").to_owned();
        let start: String = name.chars().take(LONGEST_NAME - 20).collect();
        let mut names = std::iter::once(name.clone()).chain((2..).map(|count| format!("{start} ({count})")));
        let new = names.find(|name| taken.insert(name.to_ascii_lowercase()));
        if let Some(new) = new.filter(|new| *new != name) {
            document["name"] = new.into();
        }
    }
    let mut taken = HashSet::new();
    blocks.into_iter().for_each(|block| number(block, &mut taken));
}
