//! What was said in a conversation.

use crate::model::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit_core::{Content, ToolCall, ToolResult};

/// One message of a conversation, in the words of no provider.
///
/// Written as JSON, its `role` says who speaks: `user`, `assistant` or `tool`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// What the user says.
    User(UserMessage),
    /// What the model says, and which tools it calls.
    Assistant(AssistantMessage),
    /// What the calls of the message before have given.
    Tool(ToolMessage),
}

impl Message {
    /// A text of the user.
    #[must_use]
    pub fn user(text: impl Into<UserMessage>) -> Self {
        Self::User(text.into())
    }

    /// A text of the model.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(AssistantMessage::text(text))
    }

    /// The text of the message; that of results with a line for each.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::User(message) => message.to_text(),
            Self::Assistant(message) => message.text.clone(),
            Self::Tool(message) => {
                let texts: Vec<_> = message.results.iter().map(ToolResult::to_text).collect();
                texts.join("\n")
            }
        }
    }
}

/// What the user says: a text, or several contents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserMessage {
    /// The contents, in order.
    #[serde(with = "toolkit_core::output::serde::contents")]
    pub content: Vec<Content>,
}

impl UserMessage {
    /// A message of several contents.
    ///
    /// ```
    /// use toolkit_agent::UserMessage;
    /// use toolkit::{Content, Media};
    ///
    /// let photo = Media::new("image/png", b"\x89PNG");
    /// let message = UserMessage::new([Content::Text("What is this?".to_owned()), photo.into()]);
    /// assert_eq!(message.to_text(), "What is this?\n[image image/png]");
    /// ```
    #[must_use]
    pub fn new(content: impl IntoIterator<Item = Content>) -> Self {
        Self { content: content.into_iter().collect() }
    }

    /// The contents as text, a line break between two. Media are named.
    #[must_use]
    pub fn to_text(&self) -> String {
        let texts: Vec<_> = self.content.iter().map(Content::to_text).collect();
        texts.join("\n")
    }
}

impl<T: Into<String>> From<T> for UserMessage {
    fn from(text: T) -> Self {
        Self::new([Content::Text(text.into())])
    }
}

/// What the model says, and which tools it calls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The agent that spoke; empty if it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What the model shows of its reasoning.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The calls, in the order of the message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// What it has cost, in tokens; nothing if the provider does not say.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// The message as the provider sent it. It goes back to the same API as it came, because it holds what no
    /// other form can: signatures, encrypted reasoning, fields of next year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<NativeMessages>,
}

impl AssistantMessage {
    /// A message that is only text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Adds calls.
    #[must_use]
    pub fn with_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.calls.extend(calls);
        self
    }

    /// Whether nothing is said and nothing is called.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }
}

/// Messages of a model in the JSON of one API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NativeMessages {
    /// The [name](toolkit::ApiFormat::name) of the format.
    pub format: String,
    /// The messages, as they go back into the history.
    pub messages: Vec<Value>,
}

impl NativeMessages {
    /// Messages in the JSON of this format.
    #[must_use]
    pub fn new(format: impl Into<String>, messages: Vec<Value>) -> Self {
        Self { format: format.into(), messages }
    }
}

/// What the calls of the message before have given, in the order of the calls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolMessage {
    /// The agent whose calls they were; empty if it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// One result for each call.
    pub results: Vec<ToolResult>,
}

impl ToolMessage {
    /// The results of a message's calls.
    #[must_use]
    pub fn new(results: Vec<ToolResult>) -> Self {
        Self { agent: String::new(), results }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let call = ToolCall::new("call_1", "add", "{\"a\": 1}");
        let result = ToolResult::of(&call, Ok("1".into()));
        let assistant = AssistantMessage {
            native: Some(NativeMessages::new("anthropic", vec![json!({"role": "assistant"})])),
            ..AssistantMessage::text("I add.").with_calls([call])
        };
        for (message, role) in [
            (Message::user("hi"), "user"),
            (Message::Assistant(assistant), "assistant"),
            (Message::Tool(ToolMessage::new(vec![result])), "tool"),
        ] {
            let written = serde_json::to_value(&message).unwrap();
            assert_eq!(written["role"], role);
            assert_eq!(serde_json::from_value::<Message>(written).unwrap(), message);
        }
    }
}
