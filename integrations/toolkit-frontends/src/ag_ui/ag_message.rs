//! The messages of AG-UI: what events make of them.

use super::AgEvent;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit_core::Content;
use toolkit_core::output::MediaData;
use toolkit_llm::UserMessage;

/// A message of a page, in the JSON of AG-UI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgMessage(Value);

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

    /// Changes a list of messages as the client does.
    pub fn apply(messages: &mut Vec<Self>, event: &AgEvent) {
        match event {
            AgEvent::TextMessageStart { message_id, role, subagent_run_id } => {
                let message = find(messages, message_id, role, subagent_run_id.as_deref());
                message["content"] = json!("");
            }
            AgEvent::ReasoningMessageStart { message_id, role } => {
                find(messages, message_id, role, None)["content"] = json!("");
            }
            AgEvent::TextMessageContent { message_id, delta, .. }
            | AgEvent::ReasoningMessageContent { message_id, delta } => {
                if let Value::String(text) = &mut find(messages, message_id, "assistant", None)["content"] {
                    text.push_str(delta);
                }
            }
            AgEvent::ToolCallStart { tool_call_id, tool_call_name, parent_message_id, subagent_run_id } => {
                let message = find(messages, parent_message_id, "assistant", subagent_run_id.as_deref());
                let function = json!({"name": tool_call_name, "arguments": ""});
                let call = json!({"id": tool_call_id, "type": "function", "function": function});
                match &mut message["toolCalls"] {
                    Value::Array(calls) => calls.push(call),
                    calls => *calls = json!([call]),
                }
            }
            AgEvent::ToolCallArgs { tool_call_id, delta, .. } => add_arguments(messages, tool_call_id, delta),
            AgEvent::ToolCallResult { message_id, tool_call_id, content, role, subagent_run_id } => {
                let message = find(messages, message_id, role, subagent_run_id.as_deref());
                message["toolCallId"] = json!(tool_call_id);
                message["content"] = json!(content);
            }
            AgEvent::MessagesSnapshot { messages: all } => messages.clone_from(all),
            _ => {}
        }
    }
}

/// Returns the message with this id, which is added if there is none.
fn find<'a>(messages: &'a mut Vec<AgMessage>, id: &str, role: &str, subagent: Option<&str>) -> &'a mut Value {
    let index = messages.iter().rposition(|message| message.0["id"] == id).unwrap_or(messages.len());
    if index == messages.len() {
        let mut message = json!({"id": id, "role": role});
        if let Some(subagent) = subagent {
            message["subagentRunId"] = json!(subagent);
        }
        messages.push(AgMessage(message));
    }
    &mut messages[index].0
}

fn add_arguments(messages: &mut [AgMessage], call: &str, delta: &str) {
    for message in messages.iter_mut().rev() {
        let Some(Value::Array(calls)) = message.0.get_mut("toolCalls") else { continue };
        for known in calls {
            if known["id"] == call
                && let Value::String(arguments) = &mut known["function"]["arguments"]
            {
                arguments.push_str(delta);
                return;
            }
        }
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
