//! Refusals and too long requests, in the providers' formats.

mod cut;

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use toolkit_llm::ApiFormat;
use toolkit_llm::model::Fallback;
use toolkit_llm::transport::{EventStream, Transport, WireModel, parse_response};
use toolkit_llm::{
    ChatModel, FinishReason, Message, ModelError, ModelErrorKind, ModelRequest, ModelStream, ScriptedModel,
    StreamEvent,
};

/// A transport with one stream's events, where a string is a piece of the body.
struct Events(Mutex<VecDeque<Value>>);

struct Ready(VecDeque<Value>);

impl futures_core::Stream for Ready {
    type Item = Result<Vec<u8>, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.pop_front().map(|event| {
            Ok(match event {
                Value::String(text) => text.into_bytes(),
                event => format!("data: {event}\n\n").into_bytes(),
            })
        }))
    }
}

impl Transport for Events {
    async fn send(&self, _: Value) -> Result<Value, ModelError> {
        Err(ModelError::new(ModelErrorKind::Other, "only streams"))
    }

    async fn stream(&self, _: Value) -> Result<EventStream, ModelError> {
        Ok(EventStream::bytes(Ready(std::mem::take(&mut self.0.lock().unwrap()))))
    }
}

async fn begin(format: ApiFormat, events: Value) -> Result<ModelStream, ModelError> {
    let events = events.as_array().unwrap().iter().cloned().collect();
    let model = WireModel::new(format, "m", Events(Mutex::new(events)));
    model.stream(ModelRequest::new([Message::user("hi")])).await
}

/// Streams an answer, whose pieces must be the text.
async fn stream(format: ApiFormat, events: Value) -> Result<toolkit_llm::ModelResponse, ModelError> {
    let mut deltas = begin(format, events).await?;
    let mut text = String::new();
    loop {
        match deltas.next().await.unwrap()? {
            StreamEvent::Text(piece) => text.push_str(&piece),
            StreamEvent::Done(response) => {
                assert_eq!(text, response.message.text, "{format}");
                return Ok(*response);
            }
            _ => {}
        }
    }
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
            json!({"choices": [{"index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": "Well. ", "refusal": "I cannot."}}]}),
            json!([{"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Well. "}}]},
                {"choices": [{"index": 0, "delta": {"refusal": "I "}}]},
                {"choices": [{"index": 0, "delta": {"refusal": "cannot."}}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]),
            "Well. I cannot.",
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
        assert_eq!(error.kind(), ModelErrorKind::ContextTooLong, "{format:?}: {error}");
        assert!(!error.is_retryable());
        // The same body with status 200 instead of a stream.
        let last = events.as_array().unwrap().last().unwrap();
        let body = last.get("response").unwrap_or(last);
        if format != ApiFormat::Bedrock {
            let error = parse_response(format, body).unwrap_err();
            assert_eq!(error.kind(), ModelErrorKind::ContextTooLong, "{format:?}: {error}");
        }
    }
}

/// A provider may block the prompt after the first parts. Parts and token counts are kept.
#[tokio::test]
async fn a_block_in_the_middle_of_a_stream_keeps_the_text_and_the_usage() {
    let said = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}});
    let report = "the prompt was blocked: PROHIBITED_CONTENT";
    let call = json!({"functionCall": {"id": "a", "name": "add", "args": {"a": 1}}});
    for (parts, text, reasoning, calls) in [
        (json!([{"text": "On"}]), "On", "", 0),
        (json!([{"text": "Hm", "thought": true}]), report, "Hm", 0),
        (json!([{"text": "On"}, call]), "On", "", 1),
        (json!([]), report, "", 0),
    ] {
        let events = [said(parts.clone()), blocked.clone()];
        let response = stream(ApiFormat::Gemini, json!(events)).await.unwrap();
        let message = &response.message;
        assert_eq!((message.text.as_str(), message.reasoning.as_str()), (text, reasoning), "{parts}");
        assert_eq!((message.calls.len(), &response.finish), (calls, &FinishReason::Refused), "{parts}");
        assert_eq!((response.usage.input_tokens, response.usage.output_tokens), (7, 3), "{parts}");
        let mut whole = blocked.clone();
        whole["candidates"] = said(parts.clone())["candidates"].take();
        let whole = parse_response(ApiFormat::Gemini, &whole).unwrap();
        assert_eq!((&whole.finish, whole.usage), (&FinishReason::Refused, response.usage), "{parts}");
        assert_eq!(whole.message.text, text, "{parts}");
        if parts != json!([]) {
            assert_eq!(whole.message, response.message, "{parts}");
        }
    }
    let ratings = json!({"promptFeedback": {"safetyRatings": []}});
    let error = stream(ApiFormat::Gemini, json!([ratings])).await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    // The answer's end decides if it comes first.
    let chat = json!([{"choices": [{"index": 0, "delta": {"role": "assistant", "content": "On"}}]},
        {"error": {"code": "content_filter", "message": "The response was filtered."}}]);
    let response = stream(ApiFormat::OpenAiChat, chat).await.unwrap();
    assert_eq!((response.message.text.as_str(), &response.finish), ("On", &FinishReason::Refused));
}

fn blocks() -> Vec<(u16, Value)> {
    let azure =
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.";
    let anthropic =
        json!({"type": "invalid_request_error", "message": "Output blocked by content filtering policy"});
    vec![
        (
            400,
            json!({"error": {"message": azure, "type": null, "param": "prompt", "code": "content_filter",
            "status": 400, "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
        ),
        (
            400,
            json!({"error": {"message": "x", "code": "400", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
        ),
        (400, json!({"error": {"message": azure, "type": null, "code": "400"}})),
        (
            400,
            json!({"error": {"message": "Your request was rejected as a result of our safety system.",
            "type": "user_error", "code": "moderation_blocked"}}),
        ),
        (
            400,
            json!({"error": {"message": "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            "type": "invalid_request_error", "code": "invalid_prompt"}}),
        ),
        (400, json!({"type": "error", "error": anthropic})),
        (
            400,
            json!({"message": "The model returned the following errors: Output blocked by content filtering policy"}),
        ),
        (
            400,
            json!({"message": "This request has been blocked by our content filters. It may conflict with AWS Responsible AI Policy."}),
        ),
        (
            403,
            json!({"error": {"code": 403, "message": "x requires moderation",
            "metadata": {"reasons": ["violence"], "flagged_input": "…"}}}),
        ),
        (
            403,
            json!({"code": "permission", "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}),
        ),
    ]
}

#[test]
fn errors_that_block_are_not_retried() {
    for (status, body) in blocks() {
        let wire = toolkit_llm::WireError::of_failure(&body).unwrap();
        assert!(wire.is_blocked(), "{body}");
        let error = ModelError::from(wire.clone());
        assert_eq!((error.kind(), error.is_retryable()), (ModelErrorKind::Blocked, false), "{body}");
        // A program's transport may know only the message.
        let known = body["error"]["innererror"].is_object() || body["error"]["metadata"].is_object();
        if !known {
            assert_eq!(
                ModelError::from_status(status, wire.report().unwrap()).kind(),
                ModelErrorKind::Blocked
            );
        }
    }
    for (status, kind) in [(400, ModelErrorKind::InvalidRequest), (403, ModelErrorKind::Unauthorized)] {
        for message in ["Invalid prompt", "Your resource was not found", "content: field required"] {
            assert_eq!(ModelError::from_status(status, message).kind(), kind, "{message}");
        }
    }
}

/// Gateways report the provider's status as a number or as text.
#[tokio::test]
async fn codes_of_statuses_decide_the_kind_of_an_error() {
    use ModelErrorKind::{InvalidRequest, RateLimited, TimedOut, Unauthorized, Unavailable};
    for (code, kind) in [
        (json!(429), RateLimited),
        (json!("429"), RateLimited),
        (json!(400), InvalidRequest),
        (json!(401), Unauthorized),
        (json!(408), TimedOut),
        (json!(502), Unavailable),
        (json!(7), Unavailable),
        (Value::Null, Unavailable),
    ] {
        for error in [
            json!({"error": {"code": code, "message": "x"}}),
            json!({"object": "error", "code": code, "message": "x"}),
        ] {
            let failed = stream(ApiFormat::OpenAiChat, json!([error])).await.unwrap_err();
            assert_eq!(failed.kind(), kind, "{error}");
        }
    }
}

#[tokio::test]
async fn answers_of_media_are_not_empty() {
    let audio = json!({"id": "audio_1", "data": "UklGRg==", "expires_at": 1, "transcript": "Hello."});
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}});
    let chat = |field: &str, value: &Value| {
        json!({"choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": null, field: value}}]})
    };
    let inline = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}});
    let gemini =
        json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [inline]}}]});
    for (format, body, text) in [
        (ApiFormat::OpenAiChat, chat("audio", &audio), "Hello."),
        (ApiFormat::OpenAiChat, chat("images", &json!([image])), ""),
        (ApiFormat::Gemini, gemini, ""),
    ] {
        assert_eq!(parse_response(format, &body).unwrap().message.text, text, "{body}");
    }
    for (field, value) in [
        ("images", json!([])),
        ("provider_specific_fields", json!({"refusal": null})),
        ("annotations", json!([{"type": "url_citation", "url": "https://example.org"}])),
    ] {
        let empty = parse_response(ApiFormat::OpenAiChat, &chat(field, &value)).unwrap_err();
        assert_eq!(empty.kind(), ModelErrorKind::Empty, "{field}");
    }
}

/// Only the program can decide to send a prompt to another provider, which may accept it.
#[tokio::test]
async fn a_block_leads_to_another_model_only_on_request() {
    for (kinds, expected) in
        [(None, Err(ModelErrorKind::Blocked)), (Some(ModelErrorKind::Blocked), Ok("Hello."))]
    {
        let blocked = ModelError::from_status(400, "Output blocked by content filtering policy");
        let mut model =
            Fallback::new(ScriptedModel::new().error(blocked)).or(ScriptedModel::new().text("Hello."));
        if let Some(kind) = kinds {
            model = model.with_kinds([kind]);
        }
        let answer = model.respond(ModelRequest::new([Message::user("hi")])).await;
        let answer = answer.as_ref().map(|answer| answer.message.text.as_str()).map_err(ModelError::kind);
        assert_eq!(answer, expected);
    }
}
