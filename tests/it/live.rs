//! A real server's recorded answers in four formats, with its deviations from the official JSON.

use std::env;
use std::path::Path;
use toolkit_ai::llm::{StreamAccumulator, StreamEvent};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{self, Value};

const SECTIONS: [(&str, ApiFormat, &[&str]); 4] = [
    ("openai_chat", ApiFormat::OpenAiChat, &["Paris", "London", "Rome"]),
    ("openai_responses", ApiFormat::OpenAiResponses, &["Oslo", "Rome"]),
    ("anthropic", ApiFormat::Anthropic, &["Oslo", "Rome"]),
    ("gemini", ApiFormat::Gemini, &["Oslo", "Rome"]),
];

fn each_section(mut check: impl FnMut(&Value, ApiFormat, &[&str])) {
    let asked = env::var_os("TOOLKIT_LIVE");
    let is_asked = asked.is_some();
    let folder = asked.unwrap_or_else(|| "../shared/local-model".into());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).join("live_capture.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        assert!(!is_asked, "no capture at {}", path.display());
        return;
    };
    let captured: Value = serde_json::from_str(&text).unwrap();
    for (section, format, cities) in SECTIONS {
        check(&captured[section], format, cities);
    }
}

#[track_caller]
fn cities(calls: &[ToolCall]) -> Vec<String> {
    let city = |call: &ToolCall| {
        assert_eq!(call.name, "get_weather");
        let arguments: Value = serde_json::from_str(call.arguments.as_str()).unwrap();
        arguments["city"].as_str().unwrap().to_owned()
    };
    calls.iter().map(city).collect()
}

fn push_all<'a>(
    stream: &mut StreamAccumulator,
    events: impl IntoIterator<Item = &'a Value>,
) -> Vec<ToolCall> {
    events.into_iter().flat_map(|event| stream.push(event).unwrap()).filter_map(call).collect()
}

fn call(event: StreamEvent) -> Option<ToolCall> {
    if let StreamEvent::Call(call) = event { Some(call) } else { None }
}

#[test]
fn complete_responses_give_every_call() {
    each_section(|captured, format, expected| {
        let calls = format.parse_calls(&captured["response"]).unwrap();
        assert_eq!(cities(&calls), expected, "{format}");
        assert!(!format.assistant_messages(&captured["response"]).unwrap().is_empty());
    });
}

#[test]
fn streams_give_every_call_before_they_end() {
    each_section(|captured, format, _| {
        let events = captured["stream"].as_array().unwrap();
        let mut stream = format.accumulator();
        let yielded = push_all(&mut stream, events);
        let end = stream.finish();
        assert_eq!(end.events, [], "{format}");
        assert_eq!(format.parse_calls(&end.body).unwrap(), yielded, "{format}");
        assert!(!yielded.is_empty());
    });
}

/// The connection may be lost, or the model reach its token limit.
#[tokio::test]
async fn a_stream_may_end_anywhere() {
    let dispatcher = Dispatcher::new(ToolRegistry::new()).unwrap();
    let mut histories = Vec::new();
    each_section(|captured, format, _| {
        let events = captured["stream"].as_array().unwrap();
        for length in 0..events.len() {
            let mut stream = format.accumulator();
            let mut calls = push_all(&mut stream, &events[..length]);
            let end = stream.finish();
            calls.extend(end.events.into_iter().filter_map(call));
            if calls.is_empty() {
                continue;
            }
            let mut parsed = format.parse_calls(&end.body).unwrap();
            parsed.sort_by_key(|call| calls.iter().position(|other| other.id == call.id));
            assert_eq!(parsed, calls, "{format} after {length} events");
            histories.push((format, end.body, calls));
        }
    });
    for (format, response, calls) in histories {
        let results = dispatcher.dispatch(calls).await;
        let mut history = format.assistant_messages(&response).unwrap();
        history.extend(format.encode_results(&results));
        // The complete history needs no repair, and arguments that were cut are objects.
        assert_eq!(format.repair_history(history.clone()), history, "{format}");
        for call in format.parse_calls(&history_calls(format, &history)).unwrap() {
            assert!(serde_json::from_str::<serde_json::Map<String, Value>>(call.arguments.as_str()).is_ok());
        }
    }
}

fn history_calls(format: ApiFormat, history: &[Value]) -> Value {
    match format {
        ApiFormat::OpenAiResponses => {
            history.iter().filter(|item| item["type"] == "function_call").cloned().collect::<Vec<_>>().into()
        }
        _ => history[0].clone(),
    }
}
