//! The messages of AG-UI: what events make of them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit_core::Content;
use toolkit_core::output::MediaData;
use toolkit_llm::UserMessage;

/// A message of a page, in the JSON of AG-UI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgMessage(pub(super) Value);

impl AgMessage {
    /// Creates the message of a user.
    #[must_use]
    pub fn user(id: &str, message: &UserMessage) -> Self {
        let content = match &message.content[..] {
            [Content::Text(text)] => json!(text),
            contents => contents.iter().map(part).collect(),
        };
        Self(json!({"id": id, "role": "user", "content": content}))
    }

    /// Creates the message of an agent, with text only.
    #[must_use]
    pub fn assistant(id: &str, text: &str) -> Self {
        Self(json!({"id": id, "role": "assistant", "content": text}))
    }

    /// Returns the JSON.
    #[must_use]
    pub fn as_value(&self) -> &Value {
        &self.0
    }
}

fn part(content: &Content) -> Value {
    let (kind, media) = match content {
        Content::Image(media) => ("image", media),
        Content::Audio(media) => ("audio", media),
        Content::File(media) => ("document", media),
        other => return json!({"type": "text", "text": other.to_text()}),
    };
    let source = match &media.data {
        MediaData::Base64(data) => json!({"type": "data", "value": data, "mimeType": media.media_type}),
        MediaData::Url(url) => json!({"type": "url", "value": url, "mimeType": media.media_type}),
    };
    json!({"type": kind, "source": source})
}
