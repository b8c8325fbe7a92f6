//! Provider formats: pure functions between our types and their JSON, in both directions.
//!
//! Each provider's API has one room. A room sees definitions, calls and results, never a registry,
//! and does no IO.

mod definitions;
mod openai_chat;

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

    /// What a request carries as its `tool_choice`.
    #[must_use]
    pub fn encode_choice(self, choice: &ToolChoice, names: &WireNames) -> Value {
        match self {
            Self::OpenAiChat => openai_chat::encode_choice(choice, names),
        }
    }

    /// Reads a `tool_choice` back.
    ///
    /// # Errors
    /// [`WireError`] if the value is not one of the format's choices.
    pub fn parse_choice(self, choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
        match self {
            Self::OpenAiChat => openai_chat::parse_choice(choice, names),
        }
    }

    /// The calls that a response asks for, in the order of the response. It takes a whole response
    /// body, one message, or one call.
    ///
    /// A call that cannot be used (no name, arguments that are not JSON) is still in the list:
    /// dispatching it gives a result that tells the model what was wrong.
    ///
    /// # Errors
    /// [`WireError`] if the payload is not what the format says.
    pub fn parse_calls(self, payload: &Value) -> Result<Vec<ToolCall>, WireError> {
        match self {
            Self::OpenAiChat => openai_chat::parse_calls(payload),
        }
    }

    /// The model's own messages of a response, to be put back into the history before the results.
    ///
    /// Everything in them is kept, also what this library does not know; ids that were missing are
    /// the ones that [`parse_calls`](Self::parse_calls) gives.
    ///
    /// # Errors
    /// [`WireError`] if the payload is not what the format says.
    pub fn assistant_messages(self, payload: &Value) -> Result<Vec<Value>, WireError> {
        match self {
            Self::OpenAiChat => openai_chat::assistant_messages(payload),
        }
    }

    /// The messages that answer the calls, in the order of the results.
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
