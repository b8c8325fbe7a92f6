//! Tool calls and tool choice.

mod choice;
mod extras;

pub use choice::{ToolChoice, ToolConfig};
pub use extras::ProviderExtras;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A provider's id of a call, unchanged. Clones are cheap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct CallId(Arc<str>);

impl CallId {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Arc<str>>> From<T> for CallId {
    fn from(id: T) -> Self {
        Self(id.into())
    }
}

impl From<CallId> for String {
    fn from(id: CallId) -> Self {
        (*id.0).to_owned()
    }
}

impl AsRef<str> for CallId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<str> for CallId {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for CallId {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The arguments of a call as the model wrote them: text that should be a JSON object.
///
/// The text is kept until a tool decodes it, so nothing is lost or parsed twice.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawArguments(String);

impl RawArguments {
    /// Returns the arguments as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

from! { RawArguments:
    text: String => Self(text);
    text: &str | &String | Box<str> | std::borrow::Cow<'_, str> => Self(text.into());
}

impl fmt::Display for RawArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One tool call of the model.
///
/// ```
/// use toolkit_ai::ToolCall;
///
/// let call = ToolCall::new("call_890123", "get_weather", r#"{"city": "Beijing"}"#);
/// assert_eq!(call.id.as_str(), "call_890123");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct ToolCall {
    /// The provider's id of the call, also of its result.
    pub id: CallId,
    /// The tool name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: RawArguments,
    /// The index of the call in the model's message, if the provider sends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Provider-specific fields, sent back with the call.
    #[serde(default, skip_serializing_if = "ProviderExtras::is_empty")]
    pub extras: ProviderExtras,
}

impl ToolCall {
    /// Creates a call without an index and provider extras.
    pub fn new(id: impl Into<CallId>, name: impl Into<String>, arguments: impl Into<RawArguments>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            index: None,
            extras: ProviderExtras::default(),
        }
    }
}

setters! { ToolCall:
    /// Sets the index in the model's message.
    with_index(index: usize) = Some(index);
    /// Sets the provider-specific fields, sent back with the call.
    with_extras(extras: ProviderExtras) = extras;
}
