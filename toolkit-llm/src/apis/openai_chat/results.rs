//! Encodes results as tool messages.

use super::{FACTS, OpenAiChat};
use crate::codec::ResultCodec;
use crate::history;
use crate::media::{
    IMAGES, MediaKind, MediaRule, MediaTable, Urls, accepted, address, base64, canonical, file_name,
};
use crate::results::{attachments, output_text, result_text, unsendable};
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, Media};

/// The media items that the API accepts, from OpenAI's guides to images, audio and files. Other servers accept at most
/// the same types. Tool messages contain only text.
pub(super) const MEDIA: MediaTable = MediaTable { messages: &messages(Urls::None), results: &[] };

/// Returns the rules for the media items in user messages. `urls` are the URLs accepted for audio and files.
pub(super) const fn messages(urls: Urls) -> [MediaRule; 3] {
    [
        MediaRule { kind: MediaKind::Image, types: IMAGES, embedded: true, urls: Urls::Any },
        MediaRule { kind: MediaKind::Audio, types: &["audio/wav", "audio/mpeg"], embedded: true, urls },
        MediaRule { kind: MediaKind::File, types: &["application/pdf"], embedded: true, urls },
    ]
}

/// The media items that one provider's variant of the API accepts, with the function that encodes them.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) table: &'static MediaTable,
    /// Writes an accepted media item as a content part.
    pub(super) write: fn(MediaKind, &Media) -> Option<Value>,
}

/// The media items of OpenAI's own API, with the encoding that most servers accept.
pub(super) const OPENAI: Contents = Contents { table: &MEDIA, write };

impl Contents {
    /// The media items in `table`, with the encoding that most servers accept.
    pub(crate) const fn of(table: &'static MediaTable) -> Self {
        Self { table, write }
    }

    /// Encodes a media item as a content part of a user message. Returns `None` if `content` is not an
    /// accepted media item.
    fn part(&self, content: &Content) -> Option<Value> {
        let (kind, media) = accepted(self.table.messages, content)?;
        (self.write)(kind, media)
    }

    /// Encodes a user message. If the message has only text, the content is a string, because many servers
    /// accept nothing else.
    pub(crate) fn encode_user(&self, contents: &[Content]) -> Value {
        let text_part = |content| json!({"type": "text", "text": unsendable(content)});
        let content = match contents {
            [only] if self.part(only).is_none() => unsendable(only).into(),
            _ => contents
                .iter()
                .map(|content| self.part(content).unwrap_or_else(|| text_part(content)))
                .collect::<Value>(),
        };
        json!({"role": "user", "content": content})
    }

    /// Encodes one `tool` message for each result. Tool messages may contain only text and must directly
    /// follow the calls. All media items are therefore in one user message after the tool messages.
    pub(crate) fn encode_results(
        &self,
        results: &[ToolResult],
        ids: &[String],
        names: &WireNames,
    ) -> Vec<Value> {
        let message = |(result, id): (&ToolResult, &String)| tool_message(self.table, result, id);
        let mut messages: Vec<Value> = results.iter().zip(ids).map(message).collect();
        let attached = results.iter().zip(ids).flat_map(|(result, id)| {
            let name = history::name(FACTS.names, names.spell(&result.name)).into_owned();
            attachments(self.table, result, id, name)
        });
        let attached: Vec<Value> = attached
            .flat_map(|(label, content)| [Some(json!({"type": "text", "text": label})), self.part(content)])
            .flatten()
            .collect();
        if !attached.is_empty() {
            messages.push(json!({"role": "user", "content": attached}));
        }
        messages
    }
}

impl ResultCodec for OpenAiChat {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        OPENAI.encode_results(results, ids, names)
    }
}

fn tool_message(table: &MediaTable, result: &ToolResult, id: &str) -> Value {
    let text = match &result.outcome {
        Ok(output) => output_text(output, |content| result_text(table, content)),
        Err(error) => Cow::Borrowed(error.message()),
    };
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

/// Encodes an image, an audio item or a file as a content part. Returns `None` for audio without embedded bytes.
fn write(kind: MediaKind, media: &Media) -> Option<Value> {
    Some(match kind {
        MediaKind::Image => json!({"type": "image_url", "image_url": {"url": address(media)}}),
        MediaKind::Audio => {
            let format = if canonical(&media.media_type) == "audio/wav" { "wav" } else { "mp3" };
            json!({"type": "input_audio", "input_audio": {"data": base64(media)?, "format": format}})
        }
        MediaKind::File => {
            json!({"type": "file", "file": {"filename": file_name(media), "file_data": address(media)}})
        }
    })
}
