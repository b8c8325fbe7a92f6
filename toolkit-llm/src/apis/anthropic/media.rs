//! Converts the contents of messages and results to content blocks.

use crate::fields::{Fields, set, text};
use crate::media::{IMAGES, MediaKind, MediaRule, MediaTable, Urls, accepted, base64, canonical, essence};
use crate::results::{is_blank, unsendable};
use serde_json::{Value, json};
use toolkit_core::output::{Content, JsonText, Media, MediaData};

/// The media items that the API accepts: images, PDFs, and text files, which are sent as documents. Messages and tool
/// results accept the same items. The list follows the types of Anthropic's SDK.
pub(super) const MEDIA: MediaTable = MediaTable { messages: ACCEPTED, results: ACCEPTED };

const ACCEPTED: &[MediaRule] = &[
    MediaRule { kind: MediaKind::Image, types: IMAGES, embedded: true, urls: Urls::Web },
    MediaRule { kind: MediaKind::File, types: &["application/pdf"], embedded: true, urls: Urls::Web },
    MediaRule { kind: MediaKind::File, types: TEXTS, embedded: true, urls: Urls::None },
];

/// The media types of the files that are sent as text.
const TEXTS: &[&str] = &[
    "text/*",
    "application/json",
    "application/xml",
    "application/yaml",
    "application/toml",
    "application/javascript",
    "*+json",
    "*+xml",
];

/// The maximum length of a document title in characters, from the API reference.
const LONGEST_TITLE: usize = 500;

pub(super) fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Encodes one [`Content`] as content blocks. An image block has no field for a name, so a text block with
/// the name comes first.
pub(super) fn blocks(content: &Content) -> Vec<Value> {
    if let Content::Json(json) = content {
        return vec![native(json).unwrap_or_else(|| text_block(&unsendable(content)))];
    }
    let block = match accepted(ACCEPTED, content) {
        Some((MediaKind::Image, media)) => picture(media).map(|block| (block, media.name.is_some())),
        Some((_, media)) => document(media).map(|block| (block, false)),
        None => None,
    };
    match block {
        Some((picture, true)) => vec![text_block(&content.to_text()), picture],
        Some((block, false)) => vec![block],
        None => vec![text_block(&unsendable(content))],
    }
}

/// Parses `json` as a block that exists only in this API: a reference to a deferred tool, or a search result. Returns
/// `None` for any other JSON.
fn native(json: &JsonText) -> Option<Value> {
    // Most values are not such blocks and need not be parsed.
    let is_candidate =
        json.as_str().contains("\"tool_reference\"") || json.as_str().contains("\"search_result\"");
    let block = is_candidate.then(|| json.to_value())?;
    let has = |fields: &[&str]| fields.iter().all(|field| block.get(field).is_some());
    let is_native = match text(&block, "type") {
        "tool_reference" => has(&["tool_name"]),
        "search_result" => has(&["content", "source", "title"]),
        _ => false,
    };
    is_native.then_some(block)
}

fn picture(media: &Media) -> Option<Value> {
    let source = match web_address(media) {
        Some(url) => json!({"type": "url", "url": url}),
        None => {
            json!({"type": "base64", "media_type": canonical(&media.media_type), "data": base64(media)?})
        }
    };
    Some(json!({"type": "image", "source": source}))
}

/// Encodes a PDF or a text file as a document. The service accepts no other files.
fn document(media: &Media) -> Option<Value> {
    let essence = essence(&media.media_type);
    let source = match (web_address(media), base64(media)) {
        (Some(url), _) => json!({"type": "url", "url": url}),
        (None, Some(data)) if essence == "application/pdf" => {
            json!({"type": "base64", "media_type": essence, "data": data})
        }
        (None, Some(data)) => {
            json!({"type": "text", "media_type": "text/plain", "data": plain(data)?})
        }
        _ => return None,
    };
    let mut block = Fields::new();
    set(&mut block, "type", "document");
    set(&mut block, "source", source);
    if let Some(name) = media.name.as_deref().filter(|name| !is_blank(name)) {
        let title: String = name.chars().take(LONGEST_TITLE).collect();
        set(&mut block, "title", title);
    }
    Some(block.into())
}

/// Returns the text in the bytes of a file. Bytes that are not UTF-8 become `U+FFFD`. Returns `None` if the file
/// has no other text.
fn plain(data: &str) -> Option<String> {
    Some(String::from_utf8_lossy(&decode(data)?).into_owned())
        .filter(|text| !is_blank(&text.replace(char::REPLACEMENT_CHARACTER, "")))
}

/// Returns whether an accepted media item has content that can be sent.
pub(super) fn is_readable(kind: MediaKind, media: &Media) -> bool {
    kind == MediaKind::Image || document(media).is_some()
}

/// Returns the URL of the media item if the service can download from it.
fn web_address(media: &Media) -> Option<&str> {
    match &media.data {
        MediaData::Url(url) if url.starts_with("https://") || url.starts_with("http://") => Some(url),
        _ => None,
    }
}

/// Decodes standard Base64, which may have line breaks. Returns `None` if the input is invalid.
fn decode(data: &str) -> Option<Vec<u8>> {
    let data: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let length = data.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let data = data.get(..length)?;
    let mut bytes = Vec::with_capacity(data.len() / 4 * 3 + 2);
    for group in data.chunks(4) {
        let mut bits = 0u32;
        for byte in group {
            bits = bits << 6 | u32::from(sextet(*byte)?);
        }
        bits <<= 6 * (4 - group.len());
        let [_, whole @ ..] = bits.to_be_bytes();
        // Four characters encode three bytes, three characters encode two bytes, and two characters encode
        // one byte. A single character is an error.
        bytes.extend_from_slice(whole.get(..group.len().checked_sub(1).filter(|held| *held > 0)?)?);
    }
    Some(bytes)
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        for (data, bytes) in [
            ("", &b""[..]),
            ("aA==", b"h"),
            ("aGk=", b"hi"),
            ("aGk", b"hi"),
            ("aGkh", b"hi!"),
            ("aG k=\r\n", b"hi"),
            ("5pel8J+YgA==", "日😀".as_bytes()),
            ("//79", &[255, 254, 253]),
        ] {
            assert_eq!(decode(data).as_deref(), Some(bytes), "{data}");
        }
        for data in ["a", "aGkha", "a-Gk", "=aGk"] {
            assert_eq!(decode(data), None, "{data}");
        }
    }
}
