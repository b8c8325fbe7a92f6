//! Responses of servers that deviate from the reference of their API, each with the calls that may run.

use super::streamed::hear;
use crate::{ApiFormat, FinishReason, Response, StreamEvent};
use serde::Deserialize;
use serde_json::Value;
use toolkit_core::ToolCall;

/// A response: its events, the text of its stream, or its body.
#[derive(Deserialize)]
struct Case {
    name: String,
    api: String,
    #[serde(default)]
    events: Vec<Value>,
    #[serde(default)]
    text: String,
    body: Option<Value>,
    /// The id, the name and the arguments of each call.
    ///
    /// An empty id stands for a generated one, and a string for refused arguments.
    calls: Vec<(String, String, Value)>,
    finish: String,
}

fn read(api: ApiFormat, case: &Case) -> (Response, Option<Vec<ToolCall>>) {
    if let Some(body) = &case.body {
        return (api.parse_response(body).expect("a response"), None);
    }
    let mut stream = api.accumulator();
    let mut events: Vec<StreamEvent> =
        case.events.iter().flat_map(|event| stream.push(event).unwrap_or_default()).collect();
    events.extend(stream.push_bytes(case.text.as_bytes()).into_iter().flatten());
    let end = stream.finish();
    events.extend(end.events);
    let response = end.response.expect("a response");
    assert_eq!(end.is_complete, response.finish != FinishReason::Interrupted, "{}", case.name);
    (response, Some(hear(events).calls))
}

#[track_caller]
fn check(case: &Case) {
    let place = format!("{}: {}", case.api, case.name);
    let (response, events) = read(case.api.parse().expect("an API"), case);
    let written = |call: &ToolCall| {
        let text = call.arguments.as_str();
        let arguments = serde_json::from_str(text).unwrap_or_else(|_| text.into());
        (call.id.as_str().to_owned(), call.name.clone(), arguments)
    };
    let mut found: Vec<(String, String, Value)> = response.calls.iter().map(written).collect();
    for (found, expected) in found.iter_mut().zip(&case.calls) {
        found.0 = if expected.0.is_empty() { String::new() } else { found.0.clone() };
    }
    assert_eq!(found, case.calls, "{place}");
    if let Some(mut calls) = events {
        calls.sort_by_key(|call| response.calls.iter().position(|other| other.id == call.id));
        assert_eq!(calls, response.calls, "{place}");
    }
    let finish = match &response.finish {
        FinishReason::Other(_) => "other".into(),
        finish => serde_json::to_value(finish).expect("a word"),
    };
    assert_eq!(finish, case.finish, "{place}");
    let refused = case.calls.iter().filter(|(_, _, arguments)| arguments.is_string()).count();
    let history = Value::from(response.native).to_string();
    assert_eq!(history.matches("invalid_arguments").count(), refused, "{place}: {history}");
}

#[test]
fn servers_that_deviate_run_no_wrong_call() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("deviations.json")).expect("the cases");
    cases.iter().for_each(check);
}
