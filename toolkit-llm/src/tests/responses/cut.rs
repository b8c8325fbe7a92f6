//! Calls in streams that break off, in every format.

use super::{bodies, events};
use crate::facts::ApiFormat;
use crate::stream::StreamEvent;
use serde_json::{Value, json};

/// Returns the events of a call without arguments.
///
/// The last ones tell why the model stopped.
fn events_without_arguments(format: ApiFormat, body: &Value) -> Vec<Value> {
    let call = json!({"type": "tool_use", "id": "a", "name": "add", "input": {}});
    let part = json!({"functionCall": {"id": "a", "name": "add", "args": {}}});
    match format {
        ApiFormat::Anthropic => vec![
            json!({"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}}),
            json!({"type": "content_block_start", "index": 0, "content_block": call}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            json!({"type": "message_stop"}),
        ],
        ApiFormat::Gemini => vec![
            json!({"candidates": [{"content": {"parts": [part]}}]}),
            json!({"candidates": [{"finishReason": "STOP"}]}),
        ],
        _ => {
            let pieces = [r#""{\"x\"""#, r#":": 1}""#, r#":":1}""#];
            let texts = events(format, body).into_iter().map(|event| event.to_string());
            let texts = texts.filter(|text| !pieces.iter().any(|piece| text.contains(piece)));
            let blank = |text: String| text.replace(r#"{\"x\":1}"#, "").replace(r#"{"x":1}"#, "{}");
            texts.map(|text| serde_json::from_str(&blank(text)).unwrap()).collect()
        }
    }
}

/// There may have been no room for the arguments.
#[test]
fn a_call_without_arguments_is_incomplete_if_the_stream_breaks_before_the_finish_reason() {
    for (format, body) in bodies() {
        let events = events_without_arguments(format, &body);
        for count in 0..=events.len() {
            let mut stream = format.accumulator();
            let pushed = events[..count].iter().flat_map(|event| stream.push(event).unwrap());
            let is_call = |event: &StreamEvent| matches!(event, StreamEvent::Call(_));
            let returned = pushed.filter(is_call).count();
            let end = stream.finish();
            let calls = end.response.map(|response| response.calls).unwrap_or_default();
            let complete = calls.iter().filter(|call| call.arguments.as_str() != "{").count();
            assert!(end.is_complete || complete == returned, "{format} {count}: {calls:?}");
            assert!(count < events.len() || complete == 1, "{format}: {calls:?}");
        }
    }
}
