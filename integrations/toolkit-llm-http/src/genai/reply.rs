//! Conversion of `genai` responses to `ModelResponse`s.

use super::request::{losses, names, native_format, sendable};
use genai::adapter::AdapterKind;
use genai::chat::{self, ChatMessage, ChatResponse, ContentPart, MessageContent, StopReason, StreamEnd};
use serde_json::Value;
use toolkit_core::ToolCall;
use toolkit_llm::{AssistantMessage, NativeMessages};
use toolkit_llm::{FinishReason, ModelError, ModelRequest, ModelResponse, Usage};

/// Converts a complete response of `genai`.
pub(super) fn whole(
    answer: ChatResponse,
    request: &ModelRequest,
    adapter: AdapterKind,
) -> Result<ModelResponse, ModelError> {
    let ChatResponse { content, reasoning_content, stop_reason, usage, .. } = answer;
    read(content, reasoning_content, stop_reason, &usage, request, adapter)
}

/// Converts the last event, which contains the complete answer.
pub(super) fn streamed(
    end: StreamEnd,
    request: &ModelRequest,
    adapter: AdapterKind,
) -> Result<ModelResponse, ModelError> {
    // Every provider sends a finish reason: without one, the stream was cut off.
    let stop = Some(end.captured_stop_reason.ok_or_else(ModelError::cut)?);
    let content = end.captured_content.unwrap_or_default();
    let usage = end.captured_usage.unwrap_or_default();
    read(content, end.captured_reasoning_content, stop, &usage, request, adapter)
}

fn read(
    content: MessageContent,
    reasoning: Option<String>,
    stop: Option<StopReason>,
    usage: &chat::Usage,
    request: &ModelRequest,
    adapter: AdapterKind,
) -> Result<ModelResponse, ModelError> {
    let names = names(request);
    let mut calls = Vec::new();
    for call in content.parts().iter().filter_map(ContentPart::as_tool_call) {
        let name = names.unspell(&call.fn_name);
        let received = ToolCall::new(call.call_id.as_str(), name, arguments(&call.fn_arguments));
        calls.push(received.with_index(calls.len()));
    }
    let finish = finish(stop, !calls.is_empty());
    let has_media = !content.binaries().is_empty();
    let mut message = AssistantMessage::text(content.texts().concat()).with_calls(calls);
    message.native = native(content, reasoning.clone(), adapter);
    message.reasoning = reasoning.unwrap_or_default();
    let response = ModelResponse::from(message)
        .with_finish(finish)
        .with_usage(usage_of(usage))
        .with_losses(losses(request, adapter));
    if has_media { Ok(response) } else { response.unless_empty() }
}

fn arguments(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Returns the JSON of the answer in the form of `genai`, for later requests.
fn native(
    content: MessageContent,
    reasoning: Option<String>,
    adapter: AdapterKind,
) -> Option<NativeMessages> {
    let has_reasoning = content.contains_reasoning_content();
    let mut parts = content.into_parts();
    for part in &mut parts {
        if let ContentPart::ToolCall(call) = part {
            call.fn_arguments = sendable(call.fn_arguments.take());
        }
    }
    let mut message = ChatMessage::assistant(parts);
    if !has_reasoning {
        message = message.with_reasoning_content(reasoning);
    }
    let json = serde_json::to_value(message).ok()?;
    Some(NativeMessages::new(native_format(adapter), vec![json]))
}

fn finish(stop: Option<StopReason>, has_calls: bool) -> FinishReason {
    match stop {
        Some(StopReason::MaxTokens(_)) => FinishReason::Length,
        Some(StopReason::ContentFilter(_)) => FinishReason::Refused,
        Some(StopReason::Other(reason)) => FinishReason::Other(reason),
        Some(StopReason::ToolCall(_)) => FinishReason::ToolCalls,
        _ if has_calls => FinishReason::ToolCalls,
        _ => FinishReason::Stop,
    }
}

fn usage_of(usage: &chat::Usage) -> Usage {
    let mut counts = Usage::new(count(usage.prompt_tokens), count(usage.completion_tokens));
    if let Some(details) = &usage.prompt_tokens_details {
        counts.cached_input_tokens = count(details.cached_tokens);
        counts.cache_write_tokens = count(details.cache_creation_tokens);
    }
    if let Some(details) = &usage.completion_tokens_details {
        counts.reasoning_tokens = count(details.reasoning_tokens);
    }
    counts
}

fn count(tokens: Option<i32>) -> u64 {
    u64::try_from(tokens.unwrap_or_default()).unwrap_or_default()
}
