//! Responses of models.

use super::bill::Paid;
use crate::hosted::HostedCall;
use crate::message::AssistantMessage;
use serde::{Deserialize, Serialize};
use std::fmt;
use toolkit_core::ToolCall;
use toolkit_core::schema::SchemaLoss;

pub(crate) use crate::response::{FinishReason, Usage};

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
    /// The token counts of failed attempts before this response, which the provider bills, too.
    /// [`Fallback`](super::Fallback) and [`Retrying`](super::Retrying) set it.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub failed_usage: Usage,
    /// The tokens of `usage` and `failed_usage` of models with a [price of their own](super::Priced), and their cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[doc(hidden)]
    pub paid: Option<Box<Paid>>,
    /// The id of the response, as the provider returns it. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The name of the model that answered, as the provider returns it. It may be longer than the name in the
    /// request. Empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The calls of tools that the provider itself runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosted: Vec<HostedCall>,
    /// The parts of the request that the model has not received, because the API cannot express them.
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

impl ModelResponse {
    /// Returns the cost of the response and of the failed attempts before it, if all these tokens are of models with a
    /// [price of their own](super::Priced).
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        let bill = self.billed();
        (bill.paid.usage == bill.usage).then(|| bill.cost(&Price::default()))
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
    /// Sets the parts of the request that the model has not received.
    with_losses(losses: Vec<RequestLoss>) = losses;
}

/// A part of a request that the model has not received, because the API cannot express the part.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestLoss {
    /// The path of the part in the request, such as `/options/seed`.
    /// [`EncodedRequest`](crate::transport::EncodedRequest) lists the paths.
    pub path: String,
    /// The name of the lost option, schema keyword or media type.
    pub keyword: String,
    /// Why the part was lost. If something replaces the part, the text says what.
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

/// The price of one million tokens, in any currency.
///
/// ```
/// use toolkit_ai::llm::{Price, Usage};
///
/// let price = Price::per_million(3.0, 15.0);
/// assert_eq!(price.cost(Usage::new(1_000_000, 200_000)), 6.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Price {
    /// The price of one million input tokens.
    pub input: f64,
    /// The price of one million input tokens read from a cache. `None` means the price of
    /// [`input`](Self::input).
    pub cached_input: Option<f64>,
    /// The price of one million input tokens written into a cache. `None` means the price of
    /// [`input`](Self::input).
    pub cache_write: Option<f64>,
    /// The price of one million output tokens.
    pub output: f64,
}

impl Price {
    /// Creates a price for input and output tokens.
    #[must_use]
    pub fn per_million(input: f64, output: f64) -> Self {
        Self { input, cached_input: None, cache_write: None, output }
    }

    /// Returns the cost of the tokens in `usage`.
    #[must_use]
    pub fn cost(&self, usage: Usage) -> f64 {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let parts = [
            (usage.input_tokens - cached - written, self.input),
            (cached, self.cached_input.unwrap_or(self.input)),
            (written, self.cache_write.unwrap_or(self.input)),
            (usage.output_tokens, self.output),
        ];
        parts.into_iter().map(|(tokens, price)| tokens as f64 * price / 1e6).sum()
    }
}

setters! { Price:
    /// Sets the price of input tokens read from a cache.
    with_cached_input(cached_input: f64) = Some(cached_input);
    /// Sets the price of input tokens written into a cache.
    with_cache_write(cache_write: f64) = Some(cache_write);
}
