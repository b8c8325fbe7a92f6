//! Refusals, and requests that are too long, in the formats of the providers.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use toolkit_agent::wire::{EventStream, Fragment, Transport, WireModel, parse_response};
use toolkit_agent::{ChatModel, FinishReason, Message, ModelError, ModelErrorKind, ModelRequest};
use toolkit_wire::ApiFormat;

/// A transport with the events of one stream.
struct Events(Mutex<VecDeque<Value>>);

struct Ready(VecDeque<Value>);

impl futures_core::Stream for Ready {
    type Item = Result<Fragment, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.pop_front().map(|event| Ok(Fragment::Event(event))))
    }
}

impl Transport for Events {
    async fn send(&self, _: Value) -> Result<Value, ModelError> {
        Err(ModelError::new(ModelErrorKind::Other, "only streams"))
    }

    async fn stream(&self, _: Value) -> Result<EventStream, ModelError> {
        Ok(Box::pin(Ready(std::mem::take(&mut self.0.lock().unwrap()))))
    }
}

async fn stream(format: ApiFormat, events: Value) -> Result<toolkit_agent::ModelResponse, ModelError> {
    let events = events.as_array().unwrap().iter().cloned().collect();
    let model = WireModel::new(format, "m", Events(Mutex::new(events)));
    model.stream(ModelRequest::new([Message::user("hi")])).await?.collect().await
}

#[tokio::test]
async fn refusals_are_recognised_in_all_formats() {
    let message = |content: Value| json!({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content});
    let responses = json!({"id": "r", "status": "completed",
        "output": [message(json!([{"type": "refusal", "refusal": "I cannot."}]))]});
    for (format, whole, streamed, text) in [
        (
            ApiFormat::OpenAiChat,
            json!({"choices": [{"index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": null, "refusal": "I cannot."}}]}),
            json!([{"choices": [{"index": 0, "delta": {"role": "assistant", "refusal": "I cannot."}}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]),
            "I cannot.",
        ),
        (
            ApiFormat::OpenAiChat,
            json!({"choices": [{"index": 0, "finish_reason": "content_filter",
                "message": {"role": "assistant", "content": "I"}}]}),
            json!([{"choices": [{"index": 0, "delta": {"role": "assistant", "content": "I"}}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "content_filter"}]}]),
            "I",
        ),
        (
            ApiFormat::OpenAiResponses,
            responses.clone(),
            json!([
                {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}},
                {"type": "response.output_item.added", "output_index": 0, "item": message(json!([]))},
                {"type": "response.content_part.added", "item_id": "m", "output_index": 0, "content_index": 0,
                    "part": {"type": "refusal", "refusal": ""}},
                {"type": "response.refusal.delta", "item_id": "m", "output_index": 0, "content_index": 0,
                    "delta": "I cannot."},
                {"type": "response.refusal.done", "item_id": "m", "output_index": 0, "content_index": 0,
                    "refusal": "I cannot."},
                {"type": "response.output_item.done", "output_index": 0, "item": responses["output"][0]},
                {"type": "response.completed", "response": responses},
            ]),
            "I cannot.",
        ),
        (
            ApiFormat::Anthropic,
            json!({"type": "message", "role": "assistant", "content": [], "stop_reason": "refusal"}),
            json!([
                {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}},
                {"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {"output_tokens": 1}},
                {"type": "message_stop"},
            ]),
            "",
        ),
        (
            ApiFormat::Gemini,
            json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
            json!([{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}]),
            "the prompt was blocked: PROHIBITED_CONTENT",
        ),
        (
            ApiFormat::Gemini,
            json!({"candidates": [{"finishReason": "SAFETY", "index": 0}]}),
            json!([{"candidates": [{"finishReason": "SAFETY", "index": 0}]}]),
            "the model stopped: SAFETY",
        ),
        (
            ApiFormat::Gemini,
            json!({"candidates": [{"finishReason": "IMAGE_SAFETY", "finishMessage": "no (really)", "index": 0}]}),
            json!([{"candidates": [{"finishReason": "IMAGE_SAFETY", "finishMessage": "no (really)", "index": 0}]}]),
            "the model stopped: IMAGE_SAFETY: no (really)",
        ),
        (
            ApiFormat::Gemini,
            json!({"candidates": [{"finishReason": "SAFETY", "content": {"role": "model", "parts": [{"text": "I"}]}}]}),
            json!([{"candidates": [{"content": {"role": "model", "parts": [{"text": "I"}]}}]},
                {"candidates": [{"finishReason": "SAFETY"}]}]),
            "I",
        ),
    ] {
        let whole = parse_response(format, &whole).unwrap_or_else(|error| panic!("{format:?}: {error}"));
        assert_eq!(
            (&whole.finish, whole.message.text.as_str()),
            (&FinishReason::Refused, text),
            "{format:?}"
        );
        let streamed = stream(format, streamed).await.unwrap_or_else(|error| panic!("{format:?}: {error}"));
        assert_eq!(
            (streamed.finish, streamed.message.text.as_str()),
            (FinishReason::Refused, text),
            "{format:?}"
        );
    }
}

#[tokio::test]
async fn other_failures_of_gemini_are_no_refusals() {
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER"] {
        let body = json!({"candidates": [{"finishReason": reason, "index": 0}]});
        assert!(parse_response(ApiFormat::Gemini, &body).is_err(), "{reason}");
        assert!(stream(ApiFormat::Gemini, json!([body])).await.is_err(), "{reason}");
    }
}

#[tokio::test]
async fn requests_that_are_too_long_are_recognised_in_the_middle_of_a_stream() {
    const OPENAI: &str =
        "Your input exceeds the context window of this model. Please adjust your input and try again.";
    const ANTHROPIC: &str = "prompt is too long: 208310 tokens > 200000 maximum";
    const GEMINI: &str =
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    for (format, events) in [
        (ApiFormat::OpenAiChat, json!([{"error": {"code": "context_length_exceeded", "message": OPENAI}}])),
        (
            ApiFormat::OpenAiResponses,
            json!([
                {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}},
                {"type": "response.failed", "response": {"id": "r", "status": "failed", "output": [],
                    "error": {"code": "context_length_exceeded", "message": OPENAI}}},
            ]),
        ),
        (
            ApiFormat::OpenAiResponses,
            json!([{"type": "error", "code": "context_length_exceeded", "message": OPENAI}]),
        ),
        (
            ApiFormat::Anthropic,
            json!([
                {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}},
                {"type": "error", "error": {"type": "invalid_request_error", "message": ANTHROPIC}},
            ]),
        ),
        (
            ApiFormat::Gemini,
            json!([{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": GEMINI}}]),
        ),
        (ApiFormat::Ollama, json!([{"error": "the input length exceeds the context length"}])),
        (
            ApiFormat::Bedrock,
            json!([{"messageStart": {"role": "assistant"}},
                {"validationException": {"message": "Input is too long for requested model."}}]),
        ),
    ] {
        let error = stream(format, events.clone()).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::ContextTooLong, "{format:?}: {error}");
        assert!(!error.is_retryable());
        // The same body with status 200 instead of a stream.
        let last = events.as_array().unwrap().last().unwrap();
        let body = last.get("response").unwrap_or(last);
        if format != ApiFormat::Bedrock {
            let error = parse_response(format, body).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::ContextTooLong, "{format:?}: {error}");
        }
    }
}
