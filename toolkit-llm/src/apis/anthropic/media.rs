//! Converts the contents of messages and results to content blocks.

use crate::facts::media::{IMAGES, MediaKind, MediaRule, MediaTable, Urls, accepted, canonical, media_of};
use crate::history::results::{is_blank, unsendable};
use crate::json::fields::text;
use serde_json::{Value, json};
use toolkit_core::output::{Content, JsonText, Media, MediaData};

/// The accepted images, and the PDFs and text files, which are sent as documents.
///
/// The list follows the types of Anthropic's SDK.
pub(super) const MEDIA: MediaTable = MediaTable { messages: ACCEPTED, results: ACCEPTED };

const ACCEPTED: &[MediaRule] = &[
    MediaRule { kind: MediaKind::Image, types: IMAGES, urls: Urls::Web },
    MediaRule { kind: MediaKind::File, types: &["application/pdf"], urls: Urls::Web },
    MediaRule { kind: MediaKind::File, types: TEXTS, urls: Urls::None },
];

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

/// Encodes one [`Content`].
///
/// An image block has no name, so a text block with it comes first.
pub(super) fn blocks(content: &Content) -> Vec<Value> {
    let encoded = if let Content::Json(json) = content {
        native(json)
    } else if let Some((kind, media)) = accepted(ACCEPTED, content) {
        block(kind, media)
    } else {
        None
    };
    let Some(block) = encoded else { return vec![text_block(&unsendable(content))] };
    match media_of(content) {
        Some((MediaKind::Image, media)) if media.name.is_some() => {
            vec![text_block(&content.to_text()), block]
        }
        _ => vec![block],
    }
}

/// Parses a block of this API alone: a reference to a deferred tool, or a search result.
fn native(json: &JsonText) -> Option<Value> {
    let is_candidate =
        json.as_str().contains("\"tool_reference\"") || json.as_str().contains("\"search_result\"");
    if !is_candidate {
        return None;
    }
    let block = json.to_value().ok()?;
    let required = match text(&block, "type") {
        "tool_reference" => &["tool_name"][..],
        "search_result" => &["content", "source", "title"],
        _ => return None,
    };
    let is_native = required.iter().all(|field| block.get(field).is_some());
    if is_native { Some(block) } else { None }
}

/// Encodes an accepted media item.
///
/// Returns `None` if no content can be sent.
fn block(kind: MediaKind, media: &Media) -> Option<Value> {
    let is_image = kind == MediaKind::Image;
    let media_type = canonical(&media.media_type);
    let source = match &media.data {
        MediaData::Url(url) => json!({"type": "url", "url": url}),
        MediaData::Base64(data) if is_image || media_type == "application/pdf" => {
            json!({"type": "base64", "media_type": media_type, "data": data})
        }
        MediaData::Base64(data) => json!({"type": "text", "media_type": "text/plain", "data": plain(data)?}),
    };
    let mut block = json!({"type": if is_image { "image" } else { "document" }, "source": source});
    if !is_image
        && let Some(name) = media.name.as_deref()
        && !is_blank(name)
    {
        block["title"] = name.chars().take(LONGEST_TITLE).collect::<String>().into();
    }
    Some(block)
}

pub(super) fn is_readable(kind: MediaKind, media: &Media) -> bool {
    block(kind, media).is_some()
}

/// Returns the text of a file, if it has any.
///
/// Invalid UTF-8 becomes `U+FFFD`.
fn plain(data: &str) -> Option<String> {
    let text = String::from_utf8_lossy(&decode(data)?).into_owned();
    if is_blank(&text.replace(char::REPLACEMENT_CHARACTER, "")) { None } else { Some(text) }
}

/// Decodes standard Base64, which may have line breaks.
fn decode(data: &str) -> Option<Vec<u8>> {
    let data = data.trim_end_matches(|c: char| c == '=' || c.is_ascii_whitespace());
    let mut bytes = Vec::with_capacity(data.len() / 4 * 3 + 2);
    let mut bits = 0_u32;
    let mut count = 0;
    for byte in data.bytes() {
        let sextet = match byte {
            _ if byte.is_ascii_whitespace() => continue,
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(sextet);
        count += 6;
        if count >= 8 {
            count -= 8;
            let [.., whole] = (bits >> count).to_be_bytes();
            bytes.push(whole);
        }
    }
    // The last characters may leave unused bits, but a single character is an error.
    if count < 6 { Some(bytes) } else { None }
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
