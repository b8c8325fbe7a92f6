//! The media items that models accept, and their parts.

use crate::facts::media::{MediaKind, MediaRule, MediaTable, Urls, accepted, essence};
use crate::history::results::unsendable;
use serde_json::{Value, json};
use toolkit_core::output::{Content, Media, MediaData};

/// The media items of models from the third generation on.
pub(super) const MEDIA: MediaTable = MediaTable { messages: ACCEPTED, results: ACCEPTED_IN_RESULTS };
/// The media items that earlier models accept.
///
/// Their tool results have no field for media items.
pub(super) const EARLIER_MEDIA: MediaTable = MediaTable { messages: ACCEPTED, results: &[] };

/// The media items accepted in messages, from the guides to images, audio, video and documents.
const ACCEPTED: &[MediaRule] = &[
    MediaRule { kind: MediaKind::Image, types: &["png", "jpeg", "webp", "heic", "heif"], urls: Urls::Any },
    MediaRule {
        kind: MediaKind::Audio,
        types: &["wav", "mpeg", "mpga", "mp4", "m4a", "aiff", "aac", "ogg", "opus", "flac", "pcm", "webm"],
        urls: Urls::Any,
    },
    MediaRule {
        kind: MediaKind::File,
        types: &["application/pdf", "text/*", "video/*", "application/x-javascript", "application/x-python"],
        urls: Urls::Any,
    },
];

/// The media items accepted in results, from the guide to function calling, without URLs in the Gemini API.
const ACCEPTED_IN_RESULTS: &[MediaRule] = &[
    MediaRule { kind: MediaKind::Image, types: &["png", "jpeg", "webp"], urls: Urls::None },
    MediaRule { kind: MediaKind::File, types: &["application/pdf", "text/plain"], urls: Urls::None },
];

pub(super) fn content_part(content: &Content) -> Value {
    match accepted(ACCEPTED, content) {
        Some((_, media)) => media_part(media),
        None => json!({"text": unsendable(content)}),
    }
}

/// Encodes a media item as a part.
///
/// Only some versions of the API have a field for the file name, so the name is in the text.
pub(super) fn media_part(media: &Media) -> Value {
    let media_type = match &*essence(&media.media_type) {
        "image/jpg" => "image/jpeg",
        _ => media.media_type.as_str(),
    };
    match &media.data {
        MediaData::Base64(data) => json!({"inlineData": {"mimeType": media_type, "data": data}}),
        // The service finds an unknown media type itself.
        MediaData::Url(url) if media_type.ends_with('*') => json!({"fileData": {"fileUri": url}}),
        MediaData::Url(url) => json!({"fileData": {"mimeType": media_type, "fileUri": url}}),
    }
}
