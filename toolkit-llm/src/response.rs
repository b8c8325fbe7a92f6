//! A model's response, independent of the provider.

use crate::facts::UsageFields;
use crate::hosted::HostedCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::{AddAssign, SubAssign};
use toolkit_core::call::ToolCall;

/// A model's response. If the provider returned several choices, text, reasoning and refusal are from the first
/// choice, and calls are from all choices: GitHub Copilot splits one answer into a choice with the text and a choice
/// with the calls. So do not request alternatives in a conversation with tools.
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
    /// The model's explanation for refusing to answer, or the provider's explanation for blocking the answer. Empty if
    /// there is none.
    pub refusal: String,
    /// The tool calls, in the order of the response.
    pub calls: Vec<ToolCall>,
    /// The calls of tools run by the provider itself, each with its output. They are not dispatched.
    pub hosted: Vec<HostedCall>,
    /// The reason why the model stopped.
    pub finish: FinishReason,
    /// The token counts.
    pub usage: Usage,
    /// The model's messages in the provider's JSON. Add them to the history before the tool results.
    pub native: Vec<Value>,
    /// The id that the provider assigned to the response. Empty if there is none. In the Responses API, a
    /// later request can refer to the response by this id, in the field `previous_response_id`.
    pub id: String,
    /// The id of the container in which the provider ran code. Empty if the response has none. Anthropic's
    /// API expects this id in the field `container` of the next request if the code waits for the results of
    /// calls, or if its files are needed.
    pub container: String,
    /// The time at which the container expires, as in `2026-11-23T12:00:00Z`. Empty if the response has none.
    pub container_expires_at: String,
}

impl Response {
    /// Sets the finish reason to `ToolCalls` if the response has calls. Some servers report `stop` for such a
    /// response.
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
    /// The provider filtered the answer, or the model refused to continue.
    Refused,
    /// The connection ended before the response was complete, or the service failed.
    Interrupted,
    /// Any other reason, as the provider's string.
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
            // `idle` is a status of Gemini's interactions. Some servers send the name of the model's last token.
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

    /// Returns whether the provider paused the turn. The provider continues the turn if the next request ends
    /// with the same message, unchanged.
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

    /// Returns whether generation stopped early. The arguments of the last call may then be incomplete.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        matches!(self, Self::Length | Self::Refused | Self::Interrupted)
    }

    /// Returns whether it is unknown what the provider's word means.
    pub(crate) fn is_unknown(&self) -> bool {
        // With these reasons, Gemini sends whole calls: to no tool of the request, or after too many others.
        const WITH_CALLS: [&str; 2] = ["UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"];
        let Self::Other(reason) = self else { return false };
        !self.is_paused() && !WITH_CALLS.contains(&reason.as_str())
    }

    /// Returns whether a call that looks unfinished counts as cut off.
    pub(crate) fn may_be_cut(&self) -> bool {
        self.is_cut() || self.is_unknown()
    }
}

/// The token counts of a response. A count is 0 if the provider does not report it.
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
    /// The number of input tokens, including cached ones.
    pub input_tokens: u64,
    /// The number of output tokens, including reasoning.
    pub output_tokens: u64,
    /// The number of input tokens read from a cache.
    pub cached_input_tokens: u64,
    /// The number of output tokens used for reasoning.
    pub reasoning_tokens: u64,
    /// The number of input tokens written into a cache. Some providers charge more for these tokens.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// The number of input tokens in the results of tools that the provider runs itself.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_tokens: u64,
}

// The signature is required by serde.
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
    /// Creates token counts from input and output tokens.
    #[must_use]
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..Self::default() }
    }

    /// Reads the token counts of a response. Their JSON pointers are in `fields`.
    ///
    /// Some servers do not count reasoning as output (xAI). The total then exceeds input and output by the reasoning.
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

    /// Returns the sum of input and output tokens.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

setters! { Usage:
    /// Sets the number of input tokens read from a cache.
    with_cached_input(cached_input_tokens: u64) = cached_input_tokens;
    /// Sets the number of output tokens used for reasoning.
    with_reasoning(reasoning_tokens: u64) = reasoning_tokens;
    /// Sets the number of input tokens written into a cache.
    with_cache_write(cache_write_tokens: u64) = cache_write_tokens;
    /// Sets the number of input tokens in the results of tools that the provider runs itself.
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
