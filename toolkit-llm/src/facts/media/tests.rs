//! Tests of media items of all types in every format.

use crate::facts::ApiFormat;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, Media, MediaData, ToolOutput};

/// Media types that some providers or none accept.
const TYPES: [&str; 26] = [
    "image/png",
    "image/jpeg",
    "image/jpg",
    "IMAGE/PNG",
    "image/gif",
    "image/webp",
    "image/heic",
    "image/tiff",
    "image/svg+xml",
    "image/*",
    "audio/wav",
    "audio/x-wav",
    "audio/mpeg",
    "audio/mp3",
    "audio/ogg",
    "audio/midi",
    "video/mp4",
    "application/pdf",
    "text/plain; charset=utf-8",
    "text/csv",
    "application/json",
    "application/zip",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/octet-stream",
    "",
    "nonsense",
];

fn contents() -> Vec<Content> {
    let data = [
        MediaData::Base64("aGkh".to_owned()),
        MediaData::Base64(String::new()),
        MediaData::Url("https://example.com/x".to_owned()),
        MediaData::Url("gs://bucket/x".to_owned()),
    ];
    let items = TYPES.iter().flat_map(|media_type| {
        data.clone().into_iter().map(|data| Media { media_type: (*media_type).to_owned(), data, name: None })
    });
    let all = items.flat_map(|media| {
        let media = Box::new(media);
        [Content::Image(media.clone()), Content::Audio(media.clone()), Content::File(media)]
    });
    all.collect()
}

/// Collects the media types and URLs in any request.
fn sent(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| sent(value, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    (
                        "url" | "uri" | "image_url" | "file_data" | "file_url" | "fileUri",
                        Value::String(url),
                    ) => {
                        found.push(url.clone());
                    }
                    ("media_type" | "mimeType" | "mime_type" | "format", Value::String(kind)) => {
                        found.push(kind.clone());
                    }
                    ("images", Value::Array(images)) => found.extend(images.iter().map(Value::to_string)),
                    _ => sent(value, found),
                }
            }
        }
        _ => {}
    }
}

fn count(value: &Value) -> usize {
    let mut found = Vec::new();
    sent(value, &mut found);
    found.len()
}

/// An item is either sent as media, or named in text and reported.
#[test]
fn every_media_item_is_sent_or_reported() {
    let names = WireNames::default();
    for &format in ApiFormat::ALL {
        for model in ["", "gemini-2.5-flash"] {
            let writer = format.history(&names).with_model(model);
            for content in contents() {
                let shown = content.to_text().into_owned();
                let message = writer.encode_user(std::slice::from_ref(&content));
                let is_lost = !writer.user_losses(std::slice::from_ref(&content)).is_empty();
                assert_eq!(count(&message) == 0, is_lost, "{format}: {content:?} in {message}");
                assert!(!is_lost || message.to_string().contains(&shown), "{format}: {shown} in {message}");

                let call = ToolCall::new("call_1", "look", "{}");
                let result = ToolResult::of(&call, Ok(ToolOutput::from(content.clone())));
                let messages = json!(writer.encode_results(std::slice::from_ref(&result)));
                let losses = writer.result_losses(&[result]);
                assert_eq!(count(&messages) == 0, !losses.is_empty(), "{format}: {content:?} in {messages}");
                let is_named = messages.to_string().contains(&shown);
                assert!(losses.is_empty() || is_named, "{format}: {shown} in {messages}");
                assert!(losses.iter().all(|loss| loss.path == "/0/0"), "{losses:?}");
            }
        }
    }
}

/// The providers' documentation lists the types.
#[test]
fn no_type_reaches_a_provider_that_refuses_it() {
    let check = |format: ApiFormat, media_type: &str, in_message: bool, in_result: bool| {
        let media = Media {
            media_type: media_type.to_owned(),
            data: MediaData::Base64("aGkh".to_owned()),
            name: None,
        };
        let content = Content::File(Box::new(media));
        assert_eq!(
            count(&format.encode_user(std::slice::from_ref(&content))) > 0,
            in_message,
            "{format} {media_type}"
        );
        let call = ToolCall::new("call_1", "look", "{}");
        let result = ToolResult::of(&call, Ok(ToolOutput::from(content)));
        let results = format.encode_results(&[result]);
        assert_eq!(count(&results[0]) > 0, in_result, "{format} {media_type} in {}", results[0]);
    };
    use ApiFormat::{Anthropic, Gemini, Ollama, OpenAiChat, OpenAiResponses};
    for (format, media_type, in_message, in_result) in [
        (OpenAiChat, "image/png", true, false),
        (OpenAiChat, "image/heic", false, false),
        (OpenAiChat, "audio/mpeg", true, false),
        (OpenAiChat, "audio/ogg", false, false),
        (OpenAiChat, "application/pdf", true, false),
        (OpenAiChat, "text/csv", false, false),
        (OpenAiResponses, "image/tiff", false, false),
        (OpenAiResponses, "text/csv", true, true),
        (OpenAiResponses, "application/zip", false, false),
        (OpenAiResponses, "audio/wav", false, false),
        (Anthropic, "image/jpg", true, true),
        (Anthropic, "image/heic", false, false),
        (Anthropic, "application/pdf", true, true),
        (Gemini, "image/heic", true, false),
        (Gemini, "image/gif", false, false),
        (Gemini, "audio/ogg", true, false),
        (Gemini, "application/pdf", true, true),
        (Gemini, "text/csv", true, false),
        (Gemini, "application/zip", false, false),
        (Ollama, "image/png", true, false),
        (Ollama, "image/gif", false, false),
        (Ollama, "application/pdf", false, false),
    ] {
        check(format, media_type, in_message, in_result);
    }
}
