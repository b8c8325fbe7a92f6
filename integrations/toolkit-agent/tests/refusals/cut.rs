//! Blocks in the middle of a streamed answer.

use super::{begin, stream};
use serde_json::json;
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::encode_request;
use toolkit_llm::{FinishReason, Message, ModelErrorKind, ModelRequest, StreamEvent};

/// An incomplete call is no part of a blocked answer.
#[tokio::test]
async fn a_block_in_the_middle_of_a_call_drops_the_call() {
    let report = "Output blocked by content filtering policy";
    let shown = format!("the service reported an error: {report}");
    let text = |index: u64| json!({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": "On"}});
    let call = |index: u64, id: &str| {
        json!({"type": "content_block_start", "index": index,
        "content_block": {"type": "tool_use", "id": id, "name": "add", "input": {}}})
    };
    let piece = |index: u64, json: &str| {
        json!({"type": "content_block_delta", "index": index,
        "delta": {"type": "input_json_delta", "partial_json": json}})
    };
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let half = |index: u64| vec![call(index, "toolu_half"), piece(index, "{\"a\": ")];
    let whole = vec![call(0, "toolu_whole"), piece(0, "{\"a\": 1}"), stop(0)];
    for (parts, said, ids) in [
        (half(0), shown.as_str(), vec![]),
        ([vec![text(0), stop(0)], half(1)].concat(), "On", vec![]),
        ([whole, half(1)].concat(), "", vec!["toolu_whole"]),
    ] {
        let start = json!({"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}});
        let error = json!({"type": "error", "error": {"type": "api_error", "message": report}});
        let events = [vec![start], parts, vec![error]].concat();
        let response = stream(ApiFormat::Anthropic, events.into()).await.unwrap();
        assert_eq!((response.message.text.as_str(), &response.finish), (said, &FinishReason::Refused));
        let calls: Vec<&str> = response.message.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(calls, ids);
        let native = serde_json::to_string(&response.message.native).unwrap();
        assert!(!native.contains("toolu_half"), "{native}");
        assert!(ids.iter().all(|id| native.contains(id)), "{native}");
    }
    // The first call's arguments were to continue, and the second's may have been.
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    for call in [json!({"name": "add", "willContinue": true}), json!({"name": "add", "args": {}})] {
        let part = json!({"functionCall": call});
        let events = json!([{"candidates": [{"content": {"role": "model", "parts": [part]}}]}, blocked]);
        let response = stream(ApiFormat::Gemini, events).await.unwrap();
        assert_eq!((response.message.calls.len(), response.finish), (0, FinishReason::Refused), "{call}");
    }
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}});
    let events = json!([{"candidates": [{"content": {"role": "model", "parts": [image]}}]},
        blocked]);
    let response = stream(ApiFormat::Gemini, events).await.unwrap();
    assert_eq!(response.finish, FinishReason::Refused);
    assert!(serde_json::to_string(&response.message.native).unwrap().contains("inlineData"));
}

/// Its explanation becomes the answer's text, also in the next request.
#[tokio::test]
async fn a_block_after_reasoning_alone_is_explained() {
    let thought = json!({"type": "thinking", "thinking": "Hm", "signature": ""});
    let start = json!({"type": "content_block_start", "index": 0, "content_block": thought});
    let message =
        json!({"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}});
    let error = json!({"type": "error", "error": {"message": "Output blocked by content filtering policy"}});
    let details = json!({"type": "refusal", "category": "cyber", "explanation": "Not this."});
    let stop = json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}});
    let over = json!({"type": "message_stop"});
    let thinks = json!({"content": {"role": "model", "parts": [{"text": "Hm", "thought": true}]}});
    let ends = json!({"finishReason": "SAFETY", "finishMessage": "Unsafe.", "content": {"role": "model"}});
    let chat = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "reasoning_content": "Hm"}}]});
    let filtered = json!({"error": {"code": "content_filter", "message": "Filtered."}});
    for (format, events, shown) in [
        (
            ApiFormat::Anthropic,
            json!([message, start, error]),
            "the service reported an error: Output blocked by content filtering policy",
        ),
        (ApiFormat::Anthropic, json!([message, start, stop, over]), "Not this."),
        (
            ApiFormat::Gemini,
            json!([{"candidates": [thinks]}, {"candidates": [ends]}]),
            "the model stopped: SAFETY: Unsafe.",
        ),
        (ApiFormat::OpenAiChat, json!([chat, filtered]), "the service reported an error: Filtered."),
    ] {
        let mut streamed = begin(format, events.clone()).await.unwrap();
        let mut texts = String::new();
        while let Some(delta) = streamed.next().await {
            if let StreamEvent::Text(text) = delta.unwrap() {
                texts.push_str(&text);
            }
        }
        assert_eq!(texts, shown, "{events}");
        let response = stream(format, events).await.unwrap();
        let message = &response.message;
        assert_eq!((message.text.as_str(), message.reasoning.as_str()), (shown, "Hm"));
        assert_eq!(response.finish, FinishReason::Refused);
        let next =
            ModelRequest::new([Message::user("a"), Message::Assistant(message.clone()), Message::user("b")]);
        for other in [format, ApiFormat::OpenAiResponses] {
            let body = serde_json::to_string(&encode_request(other, "m", &next, false).body).unwrap();
            let is_sent = body.contains(shown);
            assert!(is_sent || format == ApiFormat::Gemini && other == format, "{other}: {body}");
        }
    }
}

/// Some gateways close after a report, without the empty line that ends an event.
#[tokio::test]
async fn the_report_in_an_unfinished_last_event_ends_the_answer() {
    let said =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"On\"}}]}\n\n";
    let report = |code: &str| format!("data: {{\"error\":{{\"code\":\"{code}\",\"message\":\"a report\"}}}}");
    let blocked = stream(ApiFormat::OpenAiChat, json!([said, report("content_filter")])).await.unwrap();
    assert_eq!((blocked.message.text.as_str(), blocked.finish), ("On", FinishReason::Refused));
    let failed = stream(ApiFormat::OpenAiChat, json!([said, report("server_error")])).await.unwrap_err();
    assert!(
        failed.kind() == ModelErrorKind::Unavailable && failed.message().contains("a report"),
        "{failed:?}"
    );
    assert_eq!(failed.partial().map(|partial| partial.message.text.as_str()), Some("On"));
}
