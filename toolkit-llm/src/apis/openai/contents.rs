//! Media items in user messages and beside results, in the form of Chat Completions.

use crate::call::sanitize;
use crate::facts::ToolFacts;
use crate::facts::media::{MediaKind, MediaTable, accepted, address, base64, canonical, file_name};
use crate::history::results::{attachments, output_text, result_text, unsendable};
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, Media};

/// The media items of one API variant, with their encoding.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) table: &'static MediaTable,
    /// Writes an accepted media item as a content part.
    pub(crate) write: fn(MediaKind, &Media) -> Option<Value>,
}

impl Contents {
    /// Creates the media items in `table`, with the encoding that most servers accept.
    pub(crate) const fn new(table: &'static MediaTable) -> Self {
        Self { table, write }
    }

    /// Encodes an accepted media item of a user message.
    fn part(&self, content: &Content) -> Option<Value> {
        let (kind, media) = accepted(self.table.messages, content)?;
        (self.write)(kind, media)
    }

    /// Encodes a user message.
    ///
    /// Text alone is a string, because many servers accept nothing else.
    pub(crate) fn encode_user(&self, contents: &[Content]) -> Value {
        if let [only] = contents
            && self.part(only).is_none()
        {
            return json!({"role": "user", "content": unsendable(only)});
        }
        let mut parts = Vec::with_capacity(contents.len());
        for content in contents {
            parts.push(match self.part(content) {
                Some(part) => part,
                None => json!({"type": "text", "text": unsendable(content)}),
            });
        }
        json!({"role": "user", "content": parts})
    }

    /// Encodes a `tool` message for each result, then all media items in a user message.
    ///
    /// Tool messages may contain only text and must directly follow the calls.
    pub(crate) fn encode_results(
        &self,
        results: &[ToolResult],
        ids: &[String],
        names: &WireNames,
    ) -> Vec<Value> {
        let mut messages = Vec::with_capacity(results.len());
        let mut attached = Vec::new();
        for (result, id) in results.iter().zip(ids) {
            let text = match &result.outcome {
                Ok(output) => output_text(output, |content| result_text(self.table, content)),
                Err(error) => Cow::Borrowed(error.message()),
            };
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            let name = sanitize::name(ToolFacts::PLAIN.names, names.spell(&result.name)).into_owned();
            for (label, content) in attachments(self.table, result, id, name) {
                attached.push(json!({"type": "text", "text": label}));
                attached.extend(self.part(content));
            }
        }
        if !attached.is_empty() {
            messages.push(json!({"role": "user", "content": attached}));
        }
        messages
    }
}

/// Encodes an image, an audio item or a file.
///
/// Returns `None` for audio without embedded bytes.
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
