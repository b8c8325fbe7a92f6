//! The values of span attributes: messages, tools and finish reasons.

use crate::message::{AssistantMessage, Message, ModelResponse};
use crate::model::ModelRequest;
use crate::response::FinishReason;
use serde_json::{Value, json};
use toolkit_core::__private::trace::OpenSpan;
use toolkit_core::{Content, RawArguments, ToolDefinition};

/// Returns a JSON list, because attributes of `tracing` cannot be lists. Returns `None` without items.
pub(super) fn list<T: AsRef<str>>(items: &[T]) -> Option<String> {
    if items.is_empty() {
        return None;
    }
    let texts: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    Some(json!(texts).to_string())
}

pub(super) fn content_of_request(span: &OpenSpan, request: &ModelRequest) {
    if !request.instructions.is_empty() {
        let instructions = json!([{"type": "text", "content": request.instructions}]);
        span.record("gen_ai.system_instructions", instructions.to_string());
    }
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    span.record("gen_ai.input.messages", json!(messages).to_string());
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter_definitions().map(definition).collect();
        span.record("gen_ai.tool.definitions", json!(tools).to_string());
    }
}

pub(super) fn content_of_response(span: &OpenSpan, response: &ModelResponse) {
    let ModelResponse { message, finish, .. } = response;
    let message = json!([{
        "role": "assistant", "parts": parts(message), "finish_reason": finish_reason(finish),
    }]);
    span.record("gen_ai.output.messages", message.to_string());
}

fn definition(definition: &ToolDefinition) -> Value {
    json!({
        "type": "function",
        "name": definition.name.as_str(),
        "description": definition.description,
        "parameters": definition.parameters,
    })
}

/// Returns the name in OpenTelemetry's semantic conventions.
pub(super) fn finish_reason(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Stop => "stop",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Length => "length",
        FinishReason::Refused => "content_filter",
        FinishReason::Interrupted => "error",
        FinishReason::Other(reason) => reason,
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(message) => {
            json!({"role": "user", "parts": message.content.iter().map(part).collect::<Vec<_>>()})
        }
        Message::Assistant(message) => json!({"role": "assistant", "parts": parts(message)}),
        Message::Tool(message) => {
            let mut results = Vec::with_capacity(message.results.len());
            for result in &message.results {
                let response = result.to_text();
                results
                    .push(json!({"type": "tool_call_response", "id": result.call_id, "response": response}));
            }
            json!({"role": "tool", "parts": results})
        }
    }
}

/// Converts a content, with a placeholder for a media item.
fn part(content: &Content) -> Value {
    json!({"type": "text", "content": content.to_text()})
}

fn parts(message: &AssistantMessage) -> Vec<Value> {
    let mut parts = Vec::new();
    for (kind, text) in [("reasoning", &message.reasoning), ("text", &message.text)] {
        if !text.is_empty() {
            parts.push(json!({"type": kind, "content": text}));
        }
    }
    for call in &message.calls {
        let arguments = arguments(&call.arguments);
        parts.push(json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments}));
    }
    parts
}

fn arguments(arguments: &RawArguments) -> Value {
    serde_json::from_str(arguments.as_str()).unwrap_or_else(|_| arguments.as_str().into())
}
