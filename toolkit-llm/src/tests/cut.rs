//! Calls that were cut off by the token limit, in whole responses and in streams of every format.

use crate::{ApiFormat, Response};
use serde_json::{Value, json};

const COMPLETE: &str = r#"{"x":1}"#;

/// Returns a response of two calls that the token limit ended, and its events.
///
/// The API writes the last arguments as `object` or as `text`, whichever its form is.
fn bodies(object: &Value, text: &str) -> [(ApiFormat, Value, Vec<Value>); ApiFormat::ALL.len() - 1] {
    let x = json!({"x": 1});
    let nested = |at: u8, id: &str, name: &str, arguments: &str| json!({"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let first = nested(0, "a", "f", COMPLETE);
    let last = nested(1, "b", "g", text);
    let item = |id: &str, name: &str, arguments: &str, status: &str| {
        json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": arguments, "status": status})
    };
    let items = [item("a", "f", COMPLETE, "completed"), item("b", "g", text, "incomplete")];
    let block = |id: &str, name: &str, input: &Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let used = |id: &str, name: &str, input: &Value| json!({"toolUse": {"toolUseId": id, "name": name, "input": input}});
    let part =
        |id: &str, name: &str, args: &Value| json!({"functionCall": {"id": id, "name": name, "args": args}});
    let step = |id: &str, name: &str, arguments: &Value| json!({"type": "function_call", "id": id, "name": name, "arguments": arguments});
    let none = json!({});
    let incomplete = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": items});
    let cohere = |kind: &str, at: u8, call: Value| json!({"type": kind, "index": at, "delta": {"message": {"tool_calls": call}}});
    [
        (
            ApiFormat::OpenAiChat,
            json!({"choices": [{"index": 0, "finish_reason": "length",
                "message": {"role": "assistant", "content": null, "tool_calls": [first, last]}}]}),
            vec![
                json!({"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [first]}}]}),
                json!({"choices": [{"index": 0, "delta": {"tool_calls": [last]}}]}),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}),
            ],
        ),
        (
            ApiFormat::OpenAiResponses,
            incomplete.clone(),
            vec![
                json!({"type": "response.output_item.done", "output_index": 0, "item": items[0]}),
                json!({"type": "response.output_item.done", "output_index": 1, "item": items[1]}),
                json!({"type": "response.incomplete", "response": incomplete}),
            ],
        ),
        (
            ApiFormat::Anthropic,
            json!({"type": "message", "role": "assistant", "stop_reason": "max_tokens",
                "content": [block("a", "f", &x), block("b", "g", object)]}),
            vec![
                json!({"type": "content_block_start", "index": 0, "content_block": block("a", "f", &none)}),
                json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "input_json_delta", "partial_json": COMPLETE}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "content_block_start", "index": 1, "content_block": block("b", "g", &none)}),
                json!({"type": "content_block_delta", "index": 1,
                    "delta": {"type": "input_json_delta", "partial_json": text}}),
                json!({"type": "content_block_stop", "index": 1}),
                json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
                json!({"type": "message_stop"}),
            ],
        ),
        (
            ApiFormat::Bedrock,
            json!({"output": {"message": {"role": "assistant", "content": [used("a", "f", &x), used("b", "g", object)]}},
                "stopReason": "max_tokens"}),
            vec![
                json!({"messageStart": {"role": "assistant"}}),
                json!({"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "a", "name": "f"}}}}),
                json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": COMPLETE}}}}),
                json!({"contentBlockStop": {"contentBlockIndex": 0}}),
                json!({"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "b", "name": "g"}}}}),
                json!({"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": text}}}}),
                json!({"contentBlockStop": {"contentBlockIndex": 1}}),
                json!({"messageStop": {"stopReason": "max_tokens"}}),
            ],
        ),
        (
            ApiFormat::Gemini,
            json!({"candidates": [{"index": 0, "finishReason": "MAX_TOKENS",
                "content": {"role": "model", "parts": [part("a", "f", &x), part("b", "g", object)]}}]}),
            vec![
                json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [part("a", "f", &x)]}}]}),
                json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [part("b", "g", object)]}}]}),
                json!({"candidates": [{"index": 0, "finishReason": "MAX_TOKENS"}]}),
            ],
        ),
        (
            ApiFormat::GeminiInteractions,
            json!({"id": "i", "status": "incomplete", "steps": [step("a", "f", &x), step("b", "g", object)]}),
            vec![
                json!({"event_type": "step.start", "index": 0, "step": step("a", "f", &x)}),
                json!({"event_type": "step.stop", "index": 0}),
                json!({"event_type": "step.start", "index": 1, "step": step("b", "g", object)}),
                json!({"event_type": "step.stop", "index": 1}),
                json!({"event_type": "interaction.completed", "interaction": {"id": "i", "status": "incomplete"}}),
            ],
        ),
        (
            ApiFormat::Cohere,
            json!({"finish_reason": "MAX_TOKENS", "message": {"role": "assistant", "tool_calls": [first, last]}}),
            vec![
                cohere("tool-call-start", 0, first.clone()),
                json!({"type": "tool-call-end", "index": 0}),
                cohere("tool-call-start", 1, last.clone()),
                json!({"type": "tool-call-end", "index": 1}),
                json!({"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS"}}),
            ],
        ),
    ]
}

/// Checks that the first call is complete, that the last is refused, and that the next request has valid JSON
/// for both.
#[track_caller]
fn check(format: ApiFormat, response: &Response) {
    let [first, last] = response.calls.as_slice() else { panic!("{format}: two calls") };
    assert!(response.finish.is_cut(), "{format}");
    assert_eq!((first.name.as_str(), first.arguments.as_str()), ("f", COMPLETE), "{format}");
    let refused = serde_json::from_str::<Value>(last.arguments.as_str());
    assert!(refused.is_err(), "{format}: {}", last.arguments.as_str());
    let sent = Value::from(response.native.clone()).to_string();
    assert!(sent.contains("invalid_arguments"), "{format}: {sent}");
}

/// An object can only have the members that are complete.
///
/// Without the last ones, the call would mean something else.
#[test]
fn a_call_cut_off_by_the_token_limit_is_refused_and_the_calls_before_it_are_complete() {
    for (object, text) in [
        (json!({"path": "/srv"}), r#"{"path":"/srv","#),
        (json!({"path": "/srv", "at": {}}), r#"{"path":"/srv","at":{"#),
        (json!({}), "{"),
    ] {
        for (format, body, events) in bodies(&object, text) {
            check(format, &format.parse_response(&body).unwrap());
            if sends_objects(format) && text != "{" {
                continue;
            }
            let mut stream = format.accumulator();
            for event in &events {
                stream.push(event).unwrap();
            }
            let end = stream.finish();
            check(format, end.response.as_ref().unwrap());
            check(format, &format.parse_response(&end.body).unwrap());
        }
    }
}

/// Returns whether the API streams arguments as an object, once they are complete.
fn sends_objects(format: ApiFormat) -> bool {
    matches!(format, ApiFormat::Gemini | ApiFormat::GeminiInteractions)
}

/// The text of arguments shows whether they are complete.
///
/// An object is streamed when it is complete.
#[test]
fn a_streamed_call_that_was_complete_before_the_token_limit_is_run() {
    for (format, _, events) in bodies(&json!({"path": "/srv"}), r#"{"path":"/srv"}"#) {
        let mut stream = format.accumulator();
        for event in &events {
            stream.push(event).unwrap();
        }
        let end = stream.finish();
        let response = end.response.unwrap();
        assert!(response.finish.is_cut(), "{format}");
        let last = |response: &Response| response.calls.last().map(|call| call.arguments.as_str().to_owned());
        assert_eq!(last(&response).as_deref(), Some(r#"{"path":"/srv"}"#), "{format}");
        let read = format.parse_response(&end.body).unwrap();
        assert_eq!((last(&read), &read.native), (last(&response), &response.native), "{format}");
        assert!(!Value::from(response.native).to_string().contains("invalid_arguments"), "{format}");
    }
}
