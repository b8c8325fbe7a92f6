//! Writes messages and results for the next request.

use super::{FACTS, Ollama};
use crate::apis::chat_messages::ToolMessages;
use crate::apis::openai::function_call;
use crate::call::outgoing::OutgoingCall;
use crate::call::received::ReceivedMessage;
use crate::call::{ids, sanitize};
use crate::codec::HistoryCodec;
use crate::definitions::EncodedToolConfig;
use crate::definitions::tool_config::ChoiceCodec;
use crate::facts::media::{MediaKind, MediaRule, MediaTable, Urls, accepted, base64};
use crate::history::results::{output_text, result_text, unsendable};
use crate::json::fields::{Fields, set};
use crate::json::texts;
use serde_json::{Value, json};
use std::borrow::Cow;
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

/// The accepted media items: images in the formats that the server decodes.
///
/// Images in tool results are sent in a user message after the results.
pub(super) const MEDIA: MediaTable = MediaTable {
    messages: &[MediaRule { kind: MediaKind::Image, types: &["jpeg", "png", "webp"], urls: Urls::None }],
    results: &[],
};

/// The API has no tool choice: the model decides.
impl ChoiceCodec for Ollama {
    fn encode_tool_config(&self, wanted: &ToolConfig, _names: &WireNames) -> EncodedToolConfig {
        let encoded = EncodedToolConfig::new(Fields::new());
        let choice = match &wanted.choice {
            ToolChoice::Auto => return encoded.without_limit(wanted),
            ToolChoice::None => "none",
            ToolChoice::Required => "required",
            ToolChoice::Tool(_) => "tool",
            ToolChoice::Allowed { .. } => "allowed",
        };
        let reason = "the API has no tool choice: the model decides";
        encoded.lose("/choice", choice, reason).without_limit(wanted)
    }
}

impl HistoryCodec for Ollama {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut fields = call.fields(FACTS.name);
        fields.shift_remove("id");
        if let Some(id) = sendable_id(&call.id) {
            set(&mut fields, "id", id);
        }
        function_call(fields, call.name, call.arguments.into_object())
    }

    fn write_message(&self, message: &ReceivedMessage<'_>, calls: Vec<Value>) -> Vec<Value> {
        let mut fields = message.fields.cloned().unwrap_or_default();
        set(&mut fields, "role", "assistant");
        let content = fields.get("content").map(texts::whole).unwrap_or_default().into_owned();
        set(&mut fields, "content", content);
        fields.shift_remove("tool_calls");
        if !calls.is_empty() {
            set(&mut fields, "tool_calls", calls);
        }
        vec![fields.into()]
    }

    /// Encodes a user message as one string, with images in a separate field.
    ///
    /// The server accepts neither other media items nor URLs.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let mut texts = Vec::new();
        let mut images = Vec::new();
        for content in contents {
            match image(content) {
                Some(image) => images.push(image),
                None => texts.push(unsendable(content)),
            }
        }
        let mut message = json!({"role": "user", "content": texts.join("\n")});
        if !images.is_empty() {
            message["images"] = images.into();
        }
        message
    }
}

/// Returns the Base64 of an image that the server accepts.
fn image(content: &Content) -> Option<&str> {
    let (_, media) = accepted(MEDIA.messages, content)?;
    base64(media)
}

impl ToolMessages for Ollama {
    fn tool_message(result: &ToolResult, id: &str, names: &WireNames) -> Value {
        let text = match &result.outcome {
            Ok(output) => output_text(output, |content| result_text(&MEDIA, content)),
            Err(error) => Cow::Borrowed(error.message()),
        };
        // Results of other programs may have no name, which the server does not require.
        let name = match result.name.as_str() {
            "" => Cow::Borrowed(""),
            name => sanitize::name(FACTS.tools.names, names.spell(name)),
        };
        message(&name, sendable_id(id), &text)
    }
}

pub(super) fn message(name: &str, id: Option<&str>, content: &str) -> Value {
    let mut message = Fields::from_iter([("role".to_owned(), "tool".into())]);
    if !name.is_empty() {
        set(&mut message, "tool_name", name);
    }
    if let Some(id) = id {
        set(&mut message, "tool_call_id", id);
    }
    set(&mut message, "content", content);
    message.into()
}

/// Returns the id if a provider assigned it.
fn sendable_id(id: &str) -> Option<&str> {
    if id.is_empty() || ids::is_generated(id) { None } else { Some(id) }
}
