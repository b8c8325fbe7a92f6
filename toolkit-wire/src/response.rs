//! A model's response, in the words of no provider.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::AddAssign;
use toolkit_core::call::ToolCall;

/// A model's response.
///
/// Where a provider returned several choices, text, reasoning and refusal are those of the first.
///
/// ```
/// use serde_json::json;
/// use toolkit::ApiFormat;
/// use toolkit::wire::FinishReason;
///
/// let body = json!({
///     "choices": [{"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "length"}],
///     "usage": {"prompt_tokens": 7, "completion_tokens": 2},
/// });
/// let response = ApiFormat::OpenAiChat.parse_response(&body)?;
/// assert_eq!(response.text, "Hello.");
/// assert_eq!(response.finish, FinishReason::Length);
/// assert_eq!(response.usage.total(), 9);
/// # Ok::<(), toolkit::WireError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Response {
    /// The text of the answer.
    pub text: String,
    /// The reasoning that the provider shows.
    pub reasoning: String,
    /// The text with which the model refused to answer; empty if it did not.
    pub refusal: String,
    /// The tool calls, in the order of the response.
    pub calls: Vec<ToolCall>,
    /// Why the model stopped.
    pub finish: FinishReason,
    /// The tokens that were read and written.
    pub usage: Usage,
    /// The model's messages in the provider's JSON, to be put back into the history before the results.
    pub native: Vec<Value>,
}

impl Response {
    /// Corrects the finish reason: some servers report `stop` beside calls.
    pub(crate) fn settle(&mut self) {
        if self.finish == FinishReason::Stop && !self.calls.is_empty() {
            self.finish = FinishReason::ToolCalls;
        }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete.
    #[default]
    Stop,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The limit of tokens was reached.
    Length,
    /// The provider filtered the answer, or the model refused to go on.
    Refused,
    /// The connection ended before the response did.
    Interrupted,
    /// Another reason, in the provider's word.
    Other(String),
}

impl FinishReason {
    /// Reads the word of any provider.
    ///
    /// ```
    /// use toolkit::wire::FinishReason;
    ///
    /// assert_eq!(FinishReason::parse("model_length"), FinishReason::Length);
    /// assert_eq!(FinishReason::parse("pause_turn"), FinishReason::Other("pause_turn".to_owned()));
    /// ```
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "" | "stop" | "STOP" | "end_turn" | "stop_sequence" | "completed" => Self::Stop,
            "tool_calls" | "function_call" | "tool_use" => Self::ToolCalls,
            // `model_length` is Mistral's.
            "length"
            | "max_tokens"
            | "model_length"
            | "MAX_TOKENS"
            | "max_output_tokens"
            | "model_context_window_exceeded" => Self::Length,
            "content_filter" | "refusal" | "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST"
            | "SPII" => Self::Refused,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns whether the model was stopped before it had finished: its last call may lack arguments.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        matches!(self, Self::Length | Self::Refused | Self::Interrupted)
    }
}

/// Tokens read and written; 0 where the provider does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens read, cached or not.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// Input tokens that came from a cache.
    pub cached_input_tokens: u64,
    /// Output tokens that were reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Creates a usage of tokens read and written.
    #[must_use]
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..Self::default() }
    }

    /// Sets how many of the tokens read came from a cache.
    #[must_use]
    pub fn with_cached_input(mut self, tokens: u64) -> Self {
        self.cached_input_tokens = tokens;
        self
    }

    /// Sets how many of the tokens written were reasoning.
    #[must_use]
    pub fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning_tokens = tokens;
        self
    }

    /// Reads the counts at four JSON pointers: input, output, cached input, reasoning.
    pub(crate) fn read(payload: &Value, pointers: [&str; 4]) -> Self {
        let [input_tokens, output_tokens, cached_input_tokens, reasoning_tokens] =
            pointers.map(|pointer| payload.pointer(pointer).and_then(Value::as_u64).unwrap_or_default());
        Self { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens }
    }

    /// Returns whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the sum of tokens read and written.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
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

#[cfg(test)]
mod tests;
