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

/// Converts the last event of a streamed `genai` response, which contains the complete answer.
pub(super) fn streamed(
    end: StreamEnd,
    request: &ModelRequest,
    adapter: AdapterKind,
) -> Result<ModelResponse, ModelError> {
    // Every provider sends a finish reason: a stream without a reason was cut off.
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
    let calls = content.parts().iter().filter_map(ContentPart::as_tool_call).enumerate();
    let calls = calls.map(|(index, call)| {
        let name = names.unspell(&call.fn_name);
        ToolCall::new(call.call_id.as_str(), name, arguments(&call.fn_arguments)).with_index(index)
    });
    let calls: Vec<ToolCall> = calls.collect();
    let finish = finish(stop, !calls.is_empty());
    let text = content.texts().concat();
    let has_media = !content.binaries().is_empty();
    let native = native(content, reasoning.clone(), adapter);
    let reasoning = reasoning.unwrap_or_default();
    let mut message = AssistantMessage::text(text).with_calls(calls);
    message.reasoning = reasoning;
    message.native = native;
    let response = ModelResponse::from(message).with_finish(finish).with_usage(usage_of(usage));
    let response = response.with_losses(losses(request, adapter));
    if has_media { Ok(response) } else { response.unless_empty() }
}

/// Returns the arguments of a tool call as a string.
fn arguments(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Returns the JSON of the answer in the form of `genai`, to send back in later requests.
fn native(
    content: MessageContent,
    reasoning: Option<String>,
    adapter: AdapterKind,
) -> Option<NativeMessages> {
    let has_reasoning = content.contains_reasoning_content();
    let parts = content.into_parts().into_iter().map(|part| match part {
        ContentPart::ToolCall(mut call) => {
            call.fn_arguments = sendable(call.fn_arguments);
            ContentPart::ToolCall(call)
        }
        other => other,
    });
    let message = ChatMessage::assistant(parts.collect::<Vec<_>>());
    let message = message.with_reasoning_content(reasoning.filter(|_| !has_reasoning));
    let message = serde_json::to_value(message).ok()?;
    Some(NativeMessages::new(native_format(adapter), vec![message]))
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
    let count =
        |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or_default();
    let cached = usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
    let reasoning = usage.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
    let written = usage.prompt_tokens_details.as_ref().and_then(|details| details.cache_creation_tokens);
    Usage::new(count(usage.prompt_tokens), count(usage.completion_tokens))
        .with_cached_input(count(cached))
        .with_cache_write(count(written))
        .with_reasoning(count(reasoning))
}
