//! What a model answers.

use crate::message::AssistantMessage;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use toolkit_core::ToolCall;

/// The answer of a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelResponse {
    /// What it says, and which tools it calls.
    pub message: AssistantMessage,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it cost, in tokens.
    pub usage: Usage,
}

impl ModelResponse {
    /// An answer that is only text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { message: AssistantMessage::text(text), ..Self::default() }
    }

    /// An answer that calls tools.
    #[must_use]
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let message = AssistantMessage::default().with_calls(calls);
        Self { message, finish: FinishReason::ToolCalls, ..Self::default() }
    }

    /// Sets what the answer cost.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets why the model stopped.
    #[must_use]
    pub fn with_finish(mut self, finish: FinishReason) -> Self {
        self.finish = finish;
        self
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It had said all.
    #[default]
    Stop,
    /// It waits for the results of its calls.
    ToolCalls,
    /// It came to its limit of tokens.
    Length,
    /// The provider, or the model itself, refused to go on.
    Refused,
    /// The connection ended before the answer did.
    Interrupted,
    /// Something else, in the provider's word.
    Other(String),
}

/// What answers cost, in tokens; 0 where the provider does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// What was read, cached or not.
    pub input_tokens: u64,
    /// What was written, reasoning included.
    pub output_tokens: u64,
    /// What of the input came from a cache.
    pub cached_input_tokens: u64,
    /// What of the output was reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// So many tokens read and written.
    #[must_use]
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..Self::default() }
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// All that was read and written.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// What tokens cost, in any currency, for a million of them.
///
/// ```
/// use toolkit_agent::{Price, Usage};
///
/// let price = Price::per_million(3.0, 15.0);
/// assert_eq!(price.of(Usage::new(1_000_000, 200_000)), 6.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Price {
    /// For a million tokens that are read.
    pub input: f64,
    /// For a million tokens that are read from a cache; as [`input`](Self::input) if it is not said.
    pub cached_input: Option<f64>,
    /// For a million tokens that are written.
    pub output: f64,
}

impl Price {
    /// The price of a million tokens that are read, and of a million that are written.
    #[must_use]
    pub fn per_million(input: f64, output: f64) -> Self {
        Self { input, cached_input: None, output }
    }

    /// Sets the price of a million tokens that are read from a cache.
    #[must_use]
    pub fn with_cached_input(mut self, price: f64) -> Self {
        self.cached_input = Some(price);
        self
    }

    /// What an answer has cost.
    #[must_use]
    pub fn of(&self, usage: Usage) -> f64 {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let parts = [
            (usage.input_tokens - cached, self.input),
            (cached, self.cached_input.unwrap_or(self.input)),
            (usage.output_tokens, self.output),
        ];
        parts.into_iter().map(|(tokens, price)| tokens as f64 * price / 1e6).sum()
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cached_input_tokens, other.cached_input_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
    }
}
