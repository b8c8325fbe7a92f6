//! A model's streamed answer, read by us and event by event.

use super::repeat;
use std::hint::black_box;
use toolkit_ai::llm::ApiFormat;
use toolkit_ai::llm::StreamEvent;
use toolkit_ai::serde_json::{self, Value, json};

/// Fifty pieces of text, and a call with arguments in fifty pieces, as Chat Completions.
fn events() -> Vec<String> {
    let chunk = |delta: Value| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_735_689_600, "model": "gpt-5",
            "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
        .to_string()
    };
    let mut events: Vec<String> =
        (0..50).map(|index| chunk(json!({"content": format!("word {index} ")}))).collect();
    let function = json!({"name": "search_web", "arguments": "{\"query\":\""});
    events.push(chunk(
        json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}),
    ));
    for index in 0..50 {
        let function = json!({"arguments": format!("word {index} ")});
        events.push(chunk(json!({"tool_calls": [{"index": 0, "function": function}]})));
    }
    events.push(chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"}"}}]})));
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}).to_string());
    events
}

/// Each event as JSON: the floor.
pub(crate) fn values(count: usize) {
    let events = events();
    repeat(count, || {
        for event in &events {
            black_box(serde_json::from_str::<Value>(event).unwrap());
        }
    });
}

/// Each event's bytes through an accumulator.
pub(crate) fn chunks(count: usize) {
    let lines: Vec<String> = events().iter().map(|event| format!("data: {event}\n\n")).collect();
    repeat(count, || {
        let mut stream = ApiFormat::OpenAiChat.accumulator();
        let mut calls = 0;
        for line in &lines {
            let events = stream.push_bytes(black_box(line.as_bytes()));
            calls += events.iter().filter(|event| matches!(event, Ok(StreamEvent::Call(_)))).count();
        }
        assert_eq!(calls, 1);
        stream.finish()
    });
}
