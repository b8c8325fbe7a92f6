//! Provider formats: pure functions between our types and their JSON, in both directions.
//!
//! Each provider's API has one room. A room sees definitions, calls and results, never a registry,
//! and does no IO.

mod definitions;
mod openai_chat;
mod path;

pub use definitions::Definitions;

use crate::call::{ToolCall, ToolChoice};
use crate::error::WireError;
use crate::name::{NameRule, WireNames};
use crate::result::ToolResult;
use crate::tool::ToolDefinition;
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// The JSON of one provider's API.
///
/// ```
/// use toolkit_core::ApiFormat;
///
/// let format: ApiFormat = "openai-chat".parse()?;
/// assert_eq!(format, ApiFormat::OpenAiChat);
/// # Ok::<(), toolkit_core::WireError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApiFormat {
    /// Chat Completions of OpenAI, and of the many servers that speak it.
    OpenAiChat,
}

impl ApiFormat {
    /// Every format.
    pub const ALL: [Self; 1] = [Self::OpenAiChat];

    /// The name of the format, as in `openai_chat`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai_chat",
        }
    }

    /// Other names under which the format is known.
    #[must_use]
    pub const fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::OpenAiChat => &["openai-chat"],
        }
    }

    /// Which tool names the API accepts.
    #[must_use]
    pub const fn name_rule(self) -> NameRule {
        match self {
            Self::OpenAiChat => openai_chat::NAMES,
        }
    }

    /// The list that a request carries as its `tools`.
    #[must_use]
    pub fn encode_definitions<'a>(
        self,
        definitions: impl IntoIterator<Item = &'a ToolDefinition>,
        names: &WireNames,
    ) -> Vec<Value> {
        let encode = match self {
            Self::OpenAiChat => openai_chat::encode_definition,
        };
        definitions.into_iter().map(|definition| encode(definition, names)).collect()
    }

    /// Reads definitions back: a list of tools, one tool, or a request with its `tools`.
    ///
    /// Names stay as they are spelled, and parameters that are not given are those of a function
    /// without any. Tools that are not functions (of free text, or run by the provider) are left out.
    ///
    /// ```
    /// use toolkit_core::ApiFormat;
    ///
    /// let tools = serde_json::json!([{"type": "function", "function": {"name": "now"}}]);
    /// let definitions = ApiFormat::OpenAiChat.parse_definitions(&tools)?;
    /// assert_eq!(definitions[0].name.as_str(), "now");
    /// # Ok::<(), toolkit_core::WireError>(())
    /// ```
    ///
    /// # Errors
    /// [`WireError`] if the payload holds no tools, or a tool whose name is not
    /// [legal](crate::check_name).
    pub fn parse_definitions(self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        match self {
            Self::OpenAiChat => openai_chat::parse_definitions(payload),
        }
    }

    /// What a request carries as its `tool_choice`.
    #[must_use]
    pub fn encode_choice(self, choice: &ToolChoice, names: &WireNames) -> Value {
        match self {
            Self::OpenAiChat => openai_chat::encode_choice(choice, names),
        }
    }

    /// Reads a `tool_choice` back; `null` is [`ToolChoice::Auto`], as if it had been left out.
    ///
    /// # Errors
    /// [`WireError`] if the value is not one of the format's choices.
    pub fn parse_choice(self, choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
        match self {
            Self::OpenAiChat => openai_chat::parse_choice(choice, names),
        }
    }

    /// The calls that a response asks for, in the order of the response. It takes a whole response
    /// body, one choice, one message, one call, or a list of calls.
    ///
    /// Names are spelled as the provider knows them; [`ToolRegistry::get`](crate::ToolRegistry::get)
    /// understands that. Ids and the text of the arguments stay as they came. A call without an id
    /// gets one that no other call of the payload has: `call_0` and so on, always the same.
    ///
    /// A call that cannot be used (no name, arguments that are not JSON) is still in the list:
    /// dispatching it gives a result that tells the model what was wrong.
    ///
    /// ```
    /// use toolkit_core::ApiFormat;
    ///
    /// let message = serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
    ///     {"id": "call_a1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1}"}},
    /// ]});
    /// let calls = ApiFormat::OpenAiChat.parse_calls(&message)?;
    /// assert_eq!(calls[0].arguments.as_str(), r#"{"a": 1}"#);
    /// # Ok::<(), toolkit_core::WireError>(())
    /// ```
    ///
    /// # Errors
    /// [`WireError`] if the payload is not what the format says. If the provider reported an error
    /// instead of an answer, its text is part of it.
    pub fn parse_calls(self, payload: &Value) -> Result<Vec<ToolCall>, WireError> {
        match self {
            Self::OpenAiChat => openai_chat::parse_calls(payload),
        }
    }

    /// The model's own messages of a response, to be put back into the history before the results.
    /// It takes what [`parse_calls`](Self::parse_calls) takes, and gives the calls the same ids.
    ///
    /// Everything in the messages is kept, also what this library does not know, except what a
    /// provider would refuse in its next request. Arguments that are not a JSON object then stand
    /// inside one, as the text of `invalid_arguments`, and characters that are not legal in a name
    /// are replaced.
    ///
    /// # Errors
    /// [`WireError`] if the payload is not what the format says.
    pub fn assistant_messages(self, payload: &Value) -> Result<Vec<Value>, WireError> {
        match self {
            Self::OpenAiChat => openai_chat::assistant_messages(payload),
        }
    }

    /// The messages of a model that asks for these calls, for a history that is made rather than received.
    ///
    /// Names are spelled for the provider. Names and arguments that it would refuse are treated as
    /// by [`assistant_messages`](Self::assistant_messages).
    #[must_use]
    pub fn encode_calls(self, calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
        match self {
            Self::OpenAiChat => vec![openai_chat::encode_calls(calls, names)],
        }
    }

    /// The messages that answer the calls, in the order of the results.
    ///
    /// A result is the text of its output, with the [message](crate::ToolOutput::message) on a line of
    /// its own, or the message of its error. What the provider takes in no tool message (images,
    /// sounds and files in Chat Completions) is named there and follows in a message after them.
    #[must_use]
    pub fn encode_results(self, results: &[ToolResult]) -> Vec<Value> {
        match self {
            Self::OpenAiChat => openai_chat::encode_results(results),
        }
    }
}

impl fmt::Display for ApiFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ApiFormat {
    type Err = WireError;

    fn from_str(text: &str) -> Result<Self, WireError> {
        let known =
            Self::ALL.into_iter().find(|format| format.name() == text || format.aliases().contains(&text));
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            WireError::new(format!("API format '{text}'"), format!("one of {}", names.join(", ")))
        })
    }
}
