//! Converts contents to the content blocks of steps, and back.

use crate::fields::{Fields, set, text};
use crate::media::essence;
use crate::results::{json_content, unsendable};
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::output::{Content, Media, MediaData};

/// The media types in the types of the SDK, by the type of the content block.
const ACCEPTED: [(&str, &[&str]); 4] = [
    ("image", &["png", "jpeg", "webp", "heic", "heif", "gif", "bmp", "tiff"]),
    (
        "audio",
        &["wav", "mp3", "aiff", "aac", "ogg", "flac", "mpeg", "m4a", "l16", "opus", "alaw", "mulaw", "webm"],
    ),
    ("video", &["mp4", "mpeg", "mpg", "mov", "avi", "x-flv", "webm", "wmv", "3gpp"]),
    (
        "document",
        &[
            "application/pdf",
            "text/csv",
            "application/msword",
            "application/vnd.ms-excel",
            "application/vnd.ms-powerpoint",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "application/vnd.oasis.opendocument.text",
            "application/vnd.oasis.opendocument.spreadsheet",
            "application/vnd.oasis.opendocument.presentation",
        ],
    ),
];

/// Encodes one [`Content`] as a content block. The block of an unsupported media item is a text that names the item.
pub(super) fn block(content: &Content) -> Value {
    media(content).unwrap_or_else(|| json!({"type": "text", "text": unsendable(content)}))
}

/// Encodes a media item. Returns `None` for other contents and for unsupported media types.
pub(super) fn media(content: &Content) -> Option<Value> {
    let (Content::Image(media) | Content::Audio(media) | Content::File(media)) = content else { return None };
    let essence = match essence(&media.media_type) {
        essence if essence == "image/jpg" => Cow::Borrowed("image/jpeg"),
        essence => essence,
    };
    let is_accepted = |(kind, names): &&(&str, &[&str])| {
        let name = essence.strip_prefix(*kind).and_then(|rest| rest.strip_prefix('/'));
        names.contains(&name.unwrap_or(&essence))
    };
    let (kind, _) = ACCEPTED.iter().find(is_accepted)?;
    let mut block = Fields::new();
    set(&mut block, "type", *kind);
    match &media.data {
        MediaData::Base64(data) => set(&mut block, "data", data.as_str()),
        MediaData::Url(url) => set(&mut block, "uri", url.as_str()),
    }
    set(&mut block, "mime_type", &*essence);
    Some(block.into())
}

/// Parses a content block into a [`Content`]. A block of an unknown type is kept as JSON.
pub(super) fn content(block: &Value) -> Content {
    let string = |name: &str| block.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let data = || string("data").map(MediaData::Base64).or_else(|| string("uri").map(MediaData::Url));
    let known = match text(block, "type") {
        "text" => string("text").map(Content::Text),
        kind @ ("image" | "audio" | "video" | "document") => data().map(|data| {
            let media_type = string("mime_type").unwrap_or_else(|| format!("{kind}/*"));
            let media = Box::new(Media { media_type, data, name: None });
            match kind {
                "image" => Content::Image(media),
                "audio" => Content::Audio(media),
                _ => Content::File(media),
            }
        }),
        _ => None,
    };
    known.unwrap_or_else(|| json_content(block))
}
