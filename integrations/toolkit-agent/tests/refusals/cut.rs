//! Blocks in the middle of a streamed answer.

use super::stream;
use serde_json::json;
use toolkit_agent::FinishReason;
use toolkit_wire::ApiFormat;

/// A call that is incomplete when the provider blocks the answer is no part of the answer.
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
    // The arguments of this call were to continue.
    let call = json!({"functionCall": {"id": "a", "name": "add", "willContinue": true}});
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    let events = json!([{"candidates": [{"content": {"role": "model", "parts": [call]}}]}, blocked]);
    let response = stream(ApiFormat::Gemini, events).await.unwrap();
    assert_eq!((response.message.calls.len(), response.finish), (0, FinishReason::Refused));
    // An image is a part of the answer.
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}});
    let events = json!([{"candidates": [{"content": {"role": "model", "parts": [image]}}]},
        blocked]);
    let response = stream(ApiFormat::Gemini, events).await.unwrap();
    assert_eq!(response.finish, FinishReason::Refused);
    assert!(serde_json::to_string(&response.message.native).unwrap().contains("inlineData"));
}
