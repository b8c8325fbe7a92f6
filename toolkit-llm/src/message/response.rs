//! Responses of models.

use super::AssistantMessage;
use crate::hosted::HostedCall;
use crate::response::{FinishReason, Usage};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::AddAssign;
use toolkit_core::ToolCall;
use toolkit_core::schema::SchemaLoss;

/// The response of a model.
///
/// ```
/// use toolkit_ai::ToolCall;
/// use toolkit_ai::llm::{FinishReason, ModelResponse};
///
/// // What a model of your own returns.
/// let answer = ModelResponse::text("It is 42.");
/// assert_eq!(answer.message.text, "It is 42.");
/// let calls = ModelResponse::calls([ToolCall::new("call_1", "add", r#"{"a": 17, "b": 25}"#)]);
/// assert_eq!(calls.finish, FinishReason::ToolCalls);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelResponse {
    /// The message of the model, including its tool calls.
    pub message: AssistantMessage,
    /// The reason why the model stopped.
    pub finish: FinishReason,
    /// The token counts.
    pub usage: Usage,
    /// The token counts of failed attempts, which the provider bills, too.
    /// [`Fallback`](crate::model::Fallback) and [`Retrying`](crate::model::Retrying) set it.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub failed_usage: Usage,
    /// The tokens of `usage` and `failed_usage` whose models have a [price of their
    /// own](crate::model::Priced), and their cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[doc(hidden)]
    pub paid: Option<Box<Paid>>,
    /// The provider's id of the response. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The provider's name of the model that answered, maybe longer than in the request. Empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The calls of tools that the provider runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosted: Vec<HostedCall>,
    /// The parts of the request that the API cannot express.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<RequestLoss>,
}

impl ModelResponse {
    /// Creates a response with text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { message: AssistantMessage::text(text), ..Self::default() }
    }

    /// Creates a response with tool calls.
    #[must_use]
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let message = AssistantMessage::default().with_calls(calls);
        Self { message, finish: FinishReason::ToolCalls, ..Self::default() }
    }
}

from! { ModelResponse:
    text: &str | String => Self::text(text);
    message: AssistantMessage => Self { message, ..Self::default() };
}

setters! { ModelResponse:
    /// Sets the token counts.
    with_usage(usage: Usage) = usage;
    /// Sets the reason why the model stopped.
    with_finish(finish: FinishReason) = finish;
    /// Sets the parts that the API cannot express.
    with_losses(losses: Vec<RequestLoss>) = losses;
}

/// The tokens of models with a price of their own, and their cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Paid {
    pub(crate) usage: Usage,
    pub(crate) cost: f64,
}

impl AddAssign for Paid {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        self.cost += other.cost;
    }
}

/// A part of a request that the API cannot express.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestLoss {
    /// The path of the part, such as `/options/seed`. [`EncodedRequest`](crate::transport::EncodedRequest)
    /// lists the paths.
    pub path: String,
    /// The lost option, schema keyword or media type.
    pub keyword: String,
    /// Why the part was lost, and what replaces it.
    pub reason: String,
}

impl From<SchemaLoss> for RequestLoss {
    fn from(loss: SchemaLoss) -> Self {
        let SchemaLoss { path, keyword, reason, .. } = loss;
        Self { path, keyword, reason }
    }
}

impl fmt::Display for RequestLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}: {}", self.keyword, self.path, self.reason)
    }
}
