//! The values of span attributes: messages, finish reasons and types of errors.

use crate::error::AgentError;
use serde_json::{Value, json};
use toolkit_core::{Content, RawArguments};
use toolkit_llm::model::{FinishReason, ModelRequest, ModelResponse};
use toolkit_llm::{AssistantMessage, Message};
use tracing::Span;

/// Returns the text, or `None` if it is empty. The span leaves out an attribute that is `None`.
pub(super) fn present(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the items as a JSON list, because attributes of `tracing` cannot be lists. Returns `None` if there
/// are no items.
pub(super) fn list(items: &[String]) -> Option<String> {
    (!items.is_empty()).then(|| json!(items).to_string())
}

pub(super) fn record_request(span: &Span, request: &ModelRequest) {
    if !request.instructions.is_empty() {
        let instructions = json!([{"type": "text", "content": request.instructions}]);
        span.record("gen_ai.system_instructions", instructions.to_string());
    }
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    span.record("gen_ai.input.messages", json!(messages).to_string());
}

pub(super) fn record_response(span: &Span, response: &ModelResponse, has_contents: bool) {
    let ModelResponse { message, finish, usage, model, .. } = response;
    let finish = finish_reason(finish);
    span.record("gen_ai.response.model", present(model));
    span.record("gen_ai.response.finish_reasons", json!([finish]).to_string());
    span.record("gen_ai.usage.input_tokens", usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    let cached = [
        ("gen_ai.usage.cache_read.input_tokens", usage.cached_input_tokens),
        ("gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens),
    ];
    for (name, tokens) in cached.into_iter().filter(|(_, tokens)| *tokens > 0) {
        span.record(name, tokens);
    }
    if has_contents {
        let said = json!([{"role": "assistant", "parts": said(message), "finish_reason": finish}]);
        span.record("gen_ai.output.messages", said.to_string());
    }
}

/// Records the type of an error in the span, and marks the span as failed.
pub(super) fn record_error(span: &Span, error: &AgentError) {
    let kind = match error {
        AgentError::Model(error) => match serde_json::to_value(error.kind) {
            Ok(Value::String(kind)) => kind,
            _ => "model".to_owned(),
        },
        AgentError::Limit(_) => "limit".to_owned(),
        AgentError::Cancelled => "cancelled".to_owned(),
        AgentError::Interrupted { .. } => "interrupted".to_owned(),
        AgentError::InvalidDecision(_) => "invalid_decision".to_owned(),
        AgentError::Build(_) => "invalid_tools".to_owned(),
        AgentError::InvalidOutput(_) => "invalid_output".to_owned(),
        AgentError::UnknownAgent(_) => "unknown_agent".to_owned(),
        AgentError::Branches(_) => "branches".to_owned(),
        AgentError::Store(_) => "store".to_owned(),
        _ => "_OTHER".to_owned(),
    };
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

/// Returns the finish reason under its name in OpenTelemetry's semantic conventions.
fn finish_reason(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Stop => "stop",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Length => "length",
        FinishReason::Refused => "content_filter",
        FinishReason::Interrupted => "error",
        FinishReason::Other(reason) => reason,
        _ => "unknown",
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(message) => {
            json!({"role": "user", "parts": message.content.iter().map(part).collect::<Vec<_>>()})
        }
        Message::Assistant(message) => json!({"role": "assistant", "parts": said(message)}),
        Message::Tool(message) => {
            let results = message.results.iter().map(|result| {
                json!({"type": "tool_call_response", "id": result.call_id, "response": result.to_text()})
            });
            json!({"role": "tool", "parts": results.collect::<Vec<_>>()})
        }
    }
}

/// Converts a content of a user message. A placeholder replaces a media item.
fn part(content: &Content) -> Value {
    json!({"type": "text", "content": content.to_text()})
}

/// Converts the reasoning, the text and the calls of a message of the model.
fn said(message: &AssistantMessage) -> Vec<Value> {
    let texts = [("reasoning", &message.reasoning), ("text", &message.text)].into_iter();
    let texts = texts.filter(|(_, text)| !text.is_empty());
    let mut parts: Vec<Value> = texts.map(|(kind, text)| json!({"type": kind, "content": text})).collect();
    parts.extend(message.calls.iter().map(|call| {
        json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments(&call.arguments)})
    }));
    parts
}

fn arguments(arguments: &RawArguments) -> Value {
    serde_json::from_str(arguments.as_str()).unwrap_or_else(|_| arguments.as_str().into())
}
