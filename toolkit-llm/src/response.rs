//! A model's response, independent of the provider.

use crate::facts::UsageFields;
use crate::hosted::HostedCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::{AddAssign, SubAssign};
use toolkit_core::call::ToolCall;

/// A model's response.
///
/// If there are several choices, text, reasoning and refusal are from the first choice, and calls are from
/// all: GitHub Copilot splits one answer into a choice with the text and a choice with the calls. Do not
/// request alternatives in a conversation with tools.
///
/// ```
/// use serde_json::json;
/// use toolkit_ai::llm::ApiFormat;
/// use toolkit_ai::llm::FinishReason;
///
/// let body = json!({
///     "choices": [{"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "length"}],
///     "usage": {"prompt_tokens": 7, "completion_tokens": 2},
/// });
/// let response = ApiFormat::OpenAiChat.parse_response(&body)?;
/// assert_eq!(response.text, "Hello.");
/// assert_eq!(response.finish, FinishReason::Length);
/// assert_eq!(response.usage.total(), 9);
/// # Ok::<(), toolkit_ai::llm::WireError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Response {
    /// The text of the answer.
    pub text: String,
    /// The reasoning, as far as the provider returns it.
    pub reasoning: String,
    /// The explanation of the model for refusing, or of the provider for blocking the answer. Empty if there
    /// is none.
    pub refusal: String,
    /// The tool calls, in order.
    pub calls: Vec<ToolCall>,
    /// The calls of tools run by the provider itself, with their outputs. They are not dispatched.
    pub hosted: Vec<HostedCall>,
    /// The reason why the model stopped.
    pub finish: FinishReason,
    /// The token counts.
    pub usage: Usage,
    /// The messages in the provider's JSON. Add them to the history before the tool results.
    pub native: Vec<Value>,
    /// The provider's id of the response.
    ///
    /// Empty if there is none. In the Responses API, the field `previous_response_id` of a later request can
    /// refer to it.
    pub id: String,
    /// The id of the container in which the provider ran code.
    ///
    /// Empty if there is none. Anthropic expects it in the field `container` of the next request if the code
    /// waits for results, or if its files are needed.
    pub container: String,
    /// The time at which the container expires, as in `2026-11-23T12:00:00Z`. Empty if there is none.
    pub container_expires_at: String,
}

impl Response {
    /// Sets the finish reason `ToolCalls` if there are calls. Some servers report `stop`.
    pub(crate) fn settle(&mut self) {
        if self.finish == FinishReason::Stop && !self.calls.is_empty() {
            self.finish = FinishReason::ToolCalls;
        }
    }
}

/// The reason why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete.
    #[default]
    Stop,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The token limit was reached.
    Length,
    /// The provider filtered the answer, or the model refused.
    Refused,
    /// The connection ended early, or the service failed.
    Interrupted,
    /// Another reason, as the provider's string.
    Other(String),
}

impl FinishReason {
    /// Parses the finish reason of any provider.
    ///
    /// ```
    /// use toolkit_ai::llm::FinishReason;
    ///
    /// assert_eq!(FinishReason::parse("model_length"), FinishReason::Length);
    /// assert_eq!(FinishReason::parse("pause_turn"), FinishReason::Other("pause_turn".to_owned()));
    /// ```
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            // `idle` is of Gemini's interactions. Some servers send the name of the model's last token.
            "" | "stop" | "STOP" | "end_turn" | "stop_sequence" | "completed" | "COMPLETE"
            | "STOP_SEQUENCE" | "idle" | "eos" | "eos_token" => Self::Stop,
            "tool_calls" | "function_call" | "tool_use" | "TOOL_CALL" | "requires_action" => Self::ToolCalls,
            // Mistral sends `model_length`. Gemini sends `CONTINUATION` and `requires_continuation` if a later
            // request can continue.
            "length"
            | "max_tokens"
            | "model_length"
            | "incomplete"
            | "MAX_TOKENS"
            | "CONTINUATION"
            | "requires_continuation"
            | "budget_exceeded"
            | "max_output_tokens"
            | "model_context_window_exceeded" => Self::Length,
            "content_filter"
            | "content_filtered"
            | "guardrail_intervened"
            | "refusal"
            | "sensitive"
            | "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "PROHIBITED_CONTENT"
            | "BLOCKLIST"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "ESCALATION"
            | "PUP_LIMITED_DISABLED"
            | "MODEL_ARMOR" => Self::Refused,
            // The last three are of Zhipu, DeepSeek, and of vLLM and SGLang.
            "TIMEOUT"
            | "ERROR"
            | "error"
            | "failed"
            | "cancelled"
            | "network_error"
            | "insufficient_system_resource"
            | "abort" => Self::Interrupted,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns whether the provider paused the turn. It continues if the next request ends with the same
    /// message, unchanged.
    ///
    /// ```
    /// use toolkit_ai::llm::FinishReason;
    ///
    /// assert!(FinishReason::parse("pause_turn").is_paused());
    /// assert!(!FinishReason::Stop.is_paused());
    /// ```
    #[must_use]
    pub fn is_paused(&self) -> bool {
        // Anthropic pauses a long turn with its own tools, and on request after a compaction of the history.
        matches!(self, Self::Other(reason) if matches!(reason.as_str(), "pause_turn" | "compaction"))
    }

    /// Returns whether generation stopped early. The last call may then be incomplete.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        matches!(self, Self::Length | Self::Refused | Self::Interrupted)
    }

    pub(crate) fn is_unknown(&self) -> bool {
        // With these reasons, Gemini sends whole calls: to no tool of the request, or after too many others.
        const WITH_CALLS: [&str; 2] = ["UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"];
        let Self::Other(reason) = self else { return false };
        !self.is_paused() && !WITH_CALLS.contains(&reason.as_str())
    }

    /// Returns whether an unfinished call counts as cut off.
    pub(crate) fn may_be_cut(&self) -> bool {
        self.is_cut() || self.is_unknown()
    }
}

/// The token counts of a response. Counts that are not reported are 0.
///
/// ```
/// use toolkit_ai::llm::Usage;
///
/// let usage = Usage::new(1_200, 80).with_cached_input(1_000);
/// assert_eq!(usage.total(), 1_280);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Input tokens, including cached ones.
    pub input_tokens: u64,
    /// Output tokens, including reasoning.
    pub output_tokens: u64,
    /// Input tokens read from a cache.
    pub cached_input_tokens: u64,
    /// Output tokens used for reasoning.
    pub reasoning_tokens: u64,
    /// Input tokens written into a cache. Some providers charge more for them.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Input tokens in the results of the provider's own tools.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_tokens: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Reads a token count. Some servers write `11.0` or `"11"`.
pub(crate) fn count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(count) => Some(count),
            None => Some(number.as_f64()? as u64),
        },
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

impl Usage {
    /// Creates counts of input and output tokens.
    #[must_use]
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..Self::default() }
    }

    /// Reads the token counts of a response.
    ///
    /// Some servers do not count reasoning as output (xAI). The total then exceeds input and output by the
    /// reasoning.
    pub(crate) fn read(payload: &Value, fields: &UsageFields) -> Self {
        let read = |pointer: &str| payload.pointer(pointer).and_then(count).unwrap_or_default();
        let mut usage = Self {
            input_tokens: read(fields.input),
            output_tokens: read(fields.output),
            cached_input_tokens: read(fields.cached_input),
            reasoning_tokens: read(fields.reasoning),
            cache_write_tokens: read(fields.cache_writes),
            tool_tokens: read(fields.tool_tokens),
        };
        if usage.total().checked_add(usage.reasoning_tokens) == Some(read(fields.total)) {
            usage.output_tokens += usage.reasoning_tokens;
        }
        usage
    }

    /// Returns whether all counts are 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns input plus output tokens.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

setters! { Usage:
    /// Sets the input tokens read from a cache.
    with_cached_input(cached_input_tokens: u64) = cached_input_tokens;
    /// Sets the output tokens used for reasoning.
    with_reasoning(reasoning_tokens: u64) = reasoning_tokens;
    /// Sets the input tokens written into a cache.
    with_cache_write(cache_write_tokens: u64) = cache_write_tokens;
    /// Sets the input tokens in results of the provider's tools.
    with_tool(tool_tokens: u64) = tool_tokens;
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cached_input_tokens, other.cached_input_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
        add(&mut self.cache_write_tokens, other.cache_write_tokens);
        add(&mut self.tool_tokens, other.tool_tokens);
    }
}

/// Takes tokens out of a sum that contains them.
impl SubAssign for Usage {
    fn sub_assign(&mut self, other: Self) {
        let subtract = |sum: &mut u64, less: u64| *sum = sum.saturating_sub(less);
        subtract(&mut self.input_tokens, other.input_tokens);
        subtract(&mut self.output_tokens, other.output_tokens);
        subtract(&mut self.cached_input_tokens, other.cached_input_tokens);
        subtract(&mut self.reasoning_tokens, other.reasoning_tokens);
        subtract(&mut self.cache_write_tokens, other.cache_write_tokens);
        subtract(&mut self.tool_tokens, other.tool_tokens);
    }
}
