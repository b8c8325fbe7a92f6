//! The messages of a conversation.

mod list;
mod response;

pub use list::Messages;
pub(crate) use response::Paid;
pub use response::{ModelResponse, RequestLoss};

use crate::response::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit_core::{Content, Media, ToolCall, ToolResult};

/// One message of a conversation, for any provider.
///
/// In JSON, the field `role` is `user`, `assistant` or `tool`.
///
/// ```
/// use toolkit_ai::llm::{Message, ModelRequest};
///
/// let history = [Message::user("I am Ada."), Message::assistant("Hello, Ada."), Message::user("Who am I?")];
/// let request = ModelRequest::new(history);
/// assert_eq!(request.messages.len(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
// Every second message is an assistant message, so a box would save little.
#[allow(clippy::large_enum_variant)]
pub enum Message {
    /// The input of the user.
    User(UserMessage),
    /// The text and the tool calls of the model.
    Assistant(AssistantMessage),
    /// The results for the calls of the preceding message.
    Tool(ToolMessage),
}

impl Message {
    /// Creates a user message.
    #[must_use]
    pub fn user(text: impl Into<UserMessage>) -> Self {
        Self::User(text.into())
    }

    /// Creates an assistant message with text only.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(AssistantMessage::text(text))
    }

    /// Creates the message with all results of a turn.
    #[must_use]
    pub fn tool(results: Vec<ToolResult>) -> Self {
        Self::Tool(ToolMessage::new(results))
    }

    /// Returns the text of the message. Tool results are separated by line breaks.
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

    /// Returns whether the message is input of the user, and not feedback of an agent.
    #[must_use]
    pub fn is_input(&self) -> bool {
        matches!(self, Self::User(message) if !message.is_feedback)
    }

    /// Returns whether an agent other than `agent` wrote the message.
    #[must_use]
    pub fn is_of_other(&self, agent: &str) -> bool {
        let author = match self {
            Self::User(_) => return false,
            Self::Assistant(message) => &message.agent,
            Self::Tool(message) => &message.agent,
        };
        !author.is_empty() && author != agent
    }
}

impl From<ToolMessage> for Message {
    fn from(message: ToolMessage) -> Self {
        Self::Tool(message)
    }
}

from_contents!(Message: User(UserMessage), Assistant(AssistantMessage));

/// The input of the user, such as text and images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserMessage {
    /// The contents, in order.
    #[serde(with = "toolkit_core::output::serde::contents")]
    pub content: Vec<Content>,
    /// Whether the message is an agent's feedback about an invalid answer.
    ///
    /// Feedback is not input: guardrails for inputs skip it, and no shortened history begins with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_feedback: bool,
}

impl UserMessage {
    /// Creates a message from contents, such as text and images.
    ///
    /// ```
    /// use toolkit_ai::llm::UserMessage;
    /// use toolkit_ai::Media;
    ///
    /// let photo = Media::new("image/png", b"\x89PNG");
    /// let message = UserMessage::from(["What is this?".into(), photo.into()]);
    /// assert_eq!(message.to_text(), "What is this?\n[image image/png]");
    /// ```
    #[must_use]
    pub fn new(content: impl IntoIterator<Item = Content>) -> Self {
        Self { content: content.into_iter().collect(), is_feedback: false }
    }

    /// Creates feedback, which asks for another answer.
    #[must_use]
    pub fn feedback(text: impl Into<String>) -> Self {
        Self { is_feedback: true, ..Self::from(text.into()) }
    }

    /// Returns the contents as text, separated by line breaks, with placeholders such as
    /// `[image image/png]`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let texts: Vec<_> = self.content.iter().map(Content::to_text).collect();
        texts.join("\n")
    }
}

from! { UserMessage:
    text: String => Self::new([Content::Text(text)]);
    text: &str | &String | Box<str> | std::borrow::Cow<'_, str> => Self::new([Content::Text(text.into())]);
    content: Content => Self::new([content]);
    media: Media => Self::new([media.into()]);
    contents: Vec<Content> => Self::new(contents);
}

/// Creates a message from contents, as in `agent.run(["What is this?".into(), photo.into()])`.
impl<const N: usize> From<[Content; N]> for UserMessage {
    fn from(contents: [Content; N]) -> Self {
        Self::new(contents)
    }
}

/// A message of the model: text, reasoning and tool calls.
///
/// ```
/// use toolkit_ai::{ToolCall, ToolResult};
/// use toolkit_ai::llm::{AssistantMessage, Message, ToolMessage};
///
/// let call = ToolCall::new("call_1", "add", r#"{"a": 1, "b": 2}"#);
/// let result = ToolResult::of(&call, Ok("3".into()));
/// let messages = [
///     Message::user("What is 1 + 2?"),
///     Message::Assistant(AssistantMessage::text("I add.").with_calls([call])),
///     Message::Tool(ToolMessage::new(vec![result])),
/// ];
/// assert_eq!(messages[2].to_text(), "3");
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The name of the agent. Empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The text of the answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The visible reasoning of the model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tool calls, in the order of the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// The name of the tool whose arguments are the final answer. Empty if no call gives it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub answer_tool: String,
    /// The token counts of the model call that returned the message.
    ///
    /// Only the messages of an agent have them; those of a [`ModelResponse`] are in
    /// [`usage`](crate::ModelResponse::usage). Counts that the provider does not report are 0.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// The message in the provider's JSON. Later requests to the same API contain it unchanged,
    /// including signatures, encrypted reasoning and unknown fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<NativeMessages>,
    /// Whether the provider paused a long turn with its own tools.
    ///
    /// It continues if the next request ends with this message.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// Whether an agent changed the message, while a conversation kept by the provider has the
    /// original. Later requests then contain the whole history.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub differs_from_server: bool,
}

impl AssistantMessage {
    /// Creates a message with text only.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Adds tool calls.
    #[must_use]
    pub fn with_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.calls.extend(calls);
        self
    }

    /// Returns whether `call` gives the final answer of a run, valid or not.
    #[must_use]
    pub fn is_answer(&self, call: &ToolCall) -> bool {
        !self.answer_tool.is_empty() && self.answer_tool == call.name
    }

    /// Returns whether any call gives the final answer of a run, valid or not.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        self.calls.iter().any(|call| self.is_answer(call))
    }

    /// Drops the provider's JSON, because the message was changed.
    pub fn drop_native(&mut self) {
        if let Some(native) = self.native.take() {
            self.differs_from_server |= native.conversation.is_some();
        }
    }

    /// Returns whether the message has neither text nor calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }
}

setters! { AssistantMessage:
    /// Sets the name of the agent of the message.
    by(agent: impl Into<String>) = agent.into();
}

/// An assistant message in the JSON of one API format, in one or several JSON messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NativeMessages {
    /// The [name](crate::ApiFormat::name) of the API format.
    pub format: String,
    /// The JSON messages, sent back unchanged.
    pub messages: Vec<Value>,
    /// The id of the response, if the provider has stored it. See
    /// [`ServerState`](crate::model::ServerState).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The id of the provider's conversation, if it stores the messages in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The id of the container in which the provider ran code.
    ///
    /// Anthropic needs it in later requests of the same turn.
    ///
    /// To keep the files of the container for later turns, set the field `container` with
    /// [`ModelOptions::with_extra`](crate::ModelOptions::with_extra).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The time at which the container expires, such as `2026-11-23T12:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_expires_at: Option<String>,
}

impl NativeMessages {
    /// Creates native messages from the name of an API format and the JSON messages.
    #[must_use]
    pub fn new(format: impl Into<String>, messages: Vec<Value>) -> Self {
        Self {
            format: format.into(),
            messages,
            response_id: None,
            conversation: None,
            container: None,
            container_expires_at: None,
        }
    }
}

/// The results for the preceding assistant message, in the order of its calls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolMessage {
    /// The name of the calling agent. Empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// One result for each call.
    pub results: Vec<ToolResult>,
}

impl ToolMessage {
    /// Creates a message with these results.
    #[must_use]
    pub fn new(results: Vec<ToolResult>) -> Self {
        Self { agent: String::new(), results }
    }
}

setters! { ToolMessage:
    /// Sets the name of the agent that made the calls.
    by(agent: impl Into<String>) = agent.into();
}

/// Sets whether the JSON of `result` includes error details.
pub fn store_details(result: &mut ToolResult, stored: bool) {
    if let Err(error) = &mut result.outcome {
        *error = error.clone().with_stored_details(stored);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_round_trip_through_json() {
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
