//! The messages of a page: what chunks make of them.

use super::UiChunk;
use super::ui_encoder::url_of;
use serde::Serialize;
use serde_json::{Value, json};
use toolkit_core::Content;
use toolkit_llm::UserMessage;

/// A message of a page, as `useChat` takes it for its first messages.
///
/// ```
/// use toolkit_frontends::ai_sdk::{UiChunk, UiMessage};
///
/// let mut message = UiMessage::assistant("run 1.answer");
/// message.apply(&UiChunk::TextStart { id: "1.1".into() });
/// message.apply(&UiChunk::TextDelta { id: "1.1".into(), delta: "Hello.".to_owned() });
/// message.apply(&UiChunk::TextEnd { id: "1.1".into() });
/// assert_eq!(message.text(), "Hello.");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UiMessage {
    /// The id.
    pub id: String,
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The parts, in the JSON of the AI SDK.
    pub parts: Vec<Value>,
    /// What the end of a run adds. Null before it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

impl UiMessage {
    /// Creates the message of an agent.
    #[must_use]
    pub fn assistant(id: impl Into<String>) -> Self {
        Self { id: id.into(), role: "assistant", parts: Vec::new(), metadata: Value::Null }
    }

    /// Creates the message of a user.
    #[must_use]
    pub fn user(id: impl Into<String>, message: &UserMessage) -> Self {
        Self { id: id.into(), role: "user", parts: user_parts(message), metadata: Value::Null }
    }

    /// Returns the text of all parts, one after the other.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            if part["type"] == "text" {
                text.push_str(part["text"].as_str().unwrap_or_default());
            }
        }
        text
    }

    /// Changes the message as the AI SDK does.
    pub fn apply(&mut self, chunk: &UiChunk) {
        match chunk {
            UiChunk::StartStep => self.parts.push(json!({"type": "step-start"})),
            UiChunk::ResetStep => {
                let step = self.parts.iter().rposition(|part| part["type"] == "step-start");
                self.parts.truncate(step.map_or(0, |index| index + 1));
            }
            UiChunk::TextStart { .. } => {
                self.parts.push(json!({"type": "text", "text": "", "state": "streaming"}));
            }
            UiChunk::ReasoningStart { id } => {
                self.parts.push(json!({"type": "reasoning", "id": id, "text": "", "state": "streaming"}));
            }
            UiChunk::TextDelta { delta, .. } | UiChunk::ReasoningDelta { delta, .. } => self.append(delta),
            UiChunk::TextEnd { .. } | UiChunk::ReasoningEnd { .. } => {
                if let Some(part) = self.parts.last_mut() {
                    part["state"] = json!("done");
                }
            }
            UiChunk::DataAgent { data } => self.parts.push(json!({"type": "data-agent", "data": data})),
            UiChunk::File { media_type, url } => {
                self.parts.push(json!({"type": "file", "mediaType": media_type, "url": url}));
            }
            UiChunk::Finish { message_metadata, .. } => self.metadata.clone_from(message_metadata),
            call => self.apply_to_call(call),
        }
    }

    fn append(&mut self, delta: &str) {
        if let Some(Value::String(text)) = self.parts.last_mut().and_then(|part| part.get_mut("text")) {
            text.push_str(delta);
        }
    }

    fn apply_to_call(&mut self, chunk: &UiChunk) {
        match chunk {
            UiChunk::ToolInputStart { tool_call_id, tool_name } => {
                let part = self.call(tool_call_id, tool_name);
                part["state"] = json!("input-streaming");
            }
            UiChunk::ToolInputAvailable { tool_call_id, tool_name, input } => {
                let part = self.call(tool_call_id, tool_name);
                part["state"] = json!("input-available");
                part["input"].clone_from(input);
            }
            UiChunk::ToolApprovalRequest { approval_id, tool_call_id, reason } => {
                let part = self.call(tool_call_id, "");
                part["state"] = json!("approval-requested");
                part["approval"] = json!({"id": approval_id, "requestReason": reason});
            }
            UiChunk::ToolApprovalResponse { approval_id, approved, reason } => {
                // The id of an approval is that of its call.
                let part = self.call(approval_id, "");
                part["state"] = json!("approval-responded");
                part["approval"]["approved"] = json!(approved);
                if let Some(reason) = reason {
                    part["approval"]["reason"] = json!(reason);
                }
            }
            UiChunk::ToolOutputAvailable { tool_call_id, output, preliminary } => {
                let part = self.call(tool_call_id, "");
                part["state"] = json!("output-available");
                part["output"].clone_from(output);
                set_preliminary(part, *preliminary);
            }
            UiChunk::ToolOutputError { tool_call_id, error_text } => {
                let part = self.call(tool_call_id, "");
                part["state"] = json!("output-error");
                part["errorText"] = json!(error_text);
                set_preliminary(part, false);
            }
            UiChunk::ToolOutputDenied { tool_call_id } => {
                self.call(tool_call_id, "")["state"] = json!("output-denied");
            }
            _ => {}
        }
    }

    /// Returns the part of a call, which is added if there is none.
    fn call(&mut self, id: &str, tool: &str) -> &mut Value {
        let index = self.parts.iter().rposition(|part| part["toolCallId"] == id).unwrap_or(self.parts.len());
        if index == self.parts.len() {
            self.parts.push(json!({"type": format!("tool-{tool}"), "toolCallId": id}));
        }
        &mut self.parts[index]
    }
}

fn set_preliminary(part: &mut Value, preliminary: bool) {
    if preliminary {
        part["preliminary"] = json!(true);
    } else if let Some(part) = part.as_object_mut() {
        part.remove("preliminary");
    }
}

/// Returns the parts of a user's message.
pub(super) fn user_parts(message: &UserMessage) -> Vec<Value> {
    let mut parts = Vec::new();
    for content in &message.content {
        parts.push(match content {
            Content::Image(media) | Content::Audio(media) | Content::File(media) => {
                let mut part = json!({"type": "file", "mediaType": media.media_type, "url": url_of(media)});
                if let Some(name) = &media.name {
                    part["filename"] = json!(name);
                }
                part
            }
            other => json!({"type": "text", "text": other.to_text()}),
        });
    }
    parts
}
