//! Converts contents to the content blocks of steps.

use crate::facts::media::{MediaKind, MediaRule, MediaTable, Urls, accepted, canonical};
use crate::history::results::unsendable;
use crate::json::fields::{Fields, set};
use serde_json::{Value, json};
use toolkit_core::output::{Content, MediaData};

/// The accepted media items, from the types of Google's SDK.
pub(super) const MEDIA: MediaTable = MediaTable { messages: ACCEPTED, results: ACCEPTED };

const ACCEPTED: &[MediaRule] = &[
    MediaRule { kind: MediaKind::Image, types: PICTURES, urls: Urls::Any },
    MediaRule { kind: MediaKind::Audio, types: SOUNDS, urls: Urls::Any },
    MediaRule { kind: MediaKind::File, types: FILES, urls: Urls::Any },
];

const PICTURES: &[&str] = &["png", "jpeg", "webp", "heic", "heif", "gif", "bmp", "tiff"];

const SOUNDS: &[&str] =
    &["wav", "aiff", "aac", "ogg", "flac", "mpeg", "m4a", "l16", "opus", "alaw", "mulaw", "webm"];

const FILES: &[&str] = &[
    "video/mp4",
    "video/mpeg",
    "video/mpg",
    "video/mov",
    "video/avi",
    "video/x-flv",
    "video/webm",
    "video/wmv",
    "video/3gpp",
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
];

/// Encodes one [`Content`].
///
/// An unsupported media item becomes a text that names it.
pub(super) fn block(content: &Content) -> Value {
    media_block(content).unwrap_or_else(|| text_block(&unsendable(content)))
}

pub(super) fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Encodes a media item, unless its type is unsupported.
pub(super) fn media_block(content: &Content) -> Option<Value> {
    let (kind, media) = accepted(ACCEPTED, content)?;
    let essence = canonical(&media.media_type);
    let mut block = Fields::new();
    let kind = match kind {
        MediaKind::Image => "image",
        MediaKind::Audio => "audio",
        MediaKind::File if essence.starts_with("video/") => "video",
        MediaKind::File => "document",
    };
    set(&mut block, "type", kind);
    match &media.data {
        MediaData::Base64(data) => set(&mut block, "data", data.as_str()),
        MediaData::Url(url) => set(&mut block, "uri", url.as_str()),
    }
    // The service finds the media type of a URL itself.
    if ACCEPTED.iter().any(|rule| rule.lists(&essence)) {
        set(&mut block, "mime_type", &*essence);
    }
    Some(block.into())
}
