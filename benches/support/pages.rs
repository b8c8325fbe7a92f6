//! A run's events for pages, beside the same structs written as JSON.

use super::repeat;
use std::hint::black_box;
use toolkit_agent::RunEvent;
use toolkit_ai::serde_json::{self, Value, json};
use toolkit_frontends::ag_ui::AgEncoder;
use toolkit_frontends::ai_sdk::UiEncoder;

fn event(kind: &str, mut fields: Value) -> RunEvent {
    fields["type"] = json!(kind);
    serde_json::from_value(fields).unwrap()
}

/// A hundred pieces of text, and a call with arguments in a hundred pieces.
fn events() -> Vec<RunEvent> {
    let mut events = Vec::new();
    for index in 0..100 {
        let text = format!("word {index} ");
        events.push(event("text", json!({"agent": "agent", "message_id": "1.1", "text": text})));
    }
    let call = json!({"agent": "agent", "message_id": "1.1", "key": "1.1.0", "call_id": "call_1", "tool": "search_web"});
    events.push(event("call_started", call.clone()));
    for index in 0..100 {
        let mut piece = call.clone();
        piece["piece"] = json!(format!("word {index} "));
        events.push(event("call_arguments", piece));
    }
    events
}

/// The chunks of the AI SDK that the events are.
pub(crate) fn ai_sdk(count: usize) {
    let events = events();
    repeat(count, || {
        let mut encoder = UiEncoder::new("run");
        for event in &events {
            for chunk in encoder.event(black_box(event)).as_slice() {
                black_box(serde_json::to_string(chunk).unwrap());
            }
        }
    });
}

/// The same chunks, written as JSON: the floor.
pub(crate) fn ai_sdk_written(count: usize) {
    let mut encoder = UiEncoder::new("run");
    let mut chunks = Vec::new();
    for event in events() {
        chunks.extend(encoder.event(&event));
    }
    assert!(chunks.len() > 200);
    repeat(count, || {
        for chunk in &chunks {
            black_box(serde_json::to_string(black_box(chunk)).unwrap());
        }
    });
}

/// The events of AG-UI that the events are.
pub(crate) fn ag_ui(count: usize) {
    let events = events();
    repeat(count, || {
        let mut encoder = AgEncoder::new("thread", "run");
        for event in &events {
            for sent in encoder.event(black_box(event)).as_slice() {
                black_box(serde_json::to_string(sent).unwrap());
            }
        }
    });
}

/// The same events, written as JSON: the floor.
pub(crate) fn ag_ui_written(count: usize) {
    let mut encoder = AgEncoder::new("thread", "run");
    let mut sent = Vec::new();
    for event in events() {
        sent.extend(encoder.event(&event));
    }
    assert!(sent.len() > 200);
    repeat(count, || {
        for event in &sent {
            black_box(serde_json::to_string(black_box(event)).unwrap());
        }
    });
}
