//! Property tests of random payloads, calls and streams.

use crate::apis::gemini::FACTS;
use crate::facts::ApiFormat::Gemini;
use crate::stream::StreamEvent;
use crate::tests::{any_json, check_payload, check_round_trip};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolkit_core::call::ToolCall;

fn json() -> impl Strategy<Value = Value> {
    any_json(
        r#"candidates content role parts functionCall function_call functionResponse name args id index text
        thought thoughtSignature partialArgs jsonPath stringValue willContinue finishReason STOP
        MALFORMED_FUNCTION_CALL error promptFeedback blockReason response output toolConfig
        functionCallingConfig mode ANY allowedFunctionNames tools function_declarations parameters type
        OBJECT properties nullable items model user call_00000000_0 $.a[0] {}"#,
    )
}

/// Generates parts, also calls, with fields of any shape.
fn parts() -> impl Strategy<Value = Vec<Value>> {
    let part = prop_oneof![
        json().prop_map(|call| json!({"functionCall": call, "thoughtSignature": "CpcB"})),
        json().prop_map(|args| json!({"functionCall": {"name": "f", "args": args}})),
        any::<String>().prop_map(|text| json!({"text": text})),
        json(),
    ];
    vec(part, 0..6)
}

fn call() -> impl Strategy<Value = ToolCall> {
    let arguments = btree_map(any::<String>(), json(), 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect()).to_string());
    (any::<String>().prop_filter("an id", |id| !id.is_empty()), "[a-zA-Z_][a-zA-Z0-9_.:-]{0,90}", arguments)
        .prop_map(|(id, name, arguments)| ToolCall::new(id, name, arguments))
}

/// Returns one call in pieces, as Vertex AI sends it, with texts split at `cuts`.
fn pieces(name: &str, args: &Map<String, Value>, cuts: &[usize]) -> Vec<Value> {
    let mut parts = vec![json!({"functionCall": {"name": name, "willContinue": true}})];
    for (key, value) in args {
        let path = format!("$[{}]", json!(key));
        let Value::String(text) = value else {
            parts.push(json!({"functionCall": {"willContinue": true, "partialArgs": [
                {"jsonPath": path, "structValue": value},
            ]}}));
            continue;
        };
        let mut rest = text.as_str();
        for cut in cuts {
            let at = rest.char_indices().map(|(at, _)| at).nth(*cut).unwrap_or(rest.len());
            let (piece, after) = rest.split_at(at);
            rest = after;
            parts.push(json!({"functionCall": {"willContinue": true, "partialArgs": [
                {"jsonPath": path, "stringValue": piece, "willContinue": true},
            ]}}));
        }
        parts.push(json!({"functionCall": {"willContinue": true, "partialArgs": [
            {"jsonPath": path, "stringValue": rest},
        ]}}));
    }
    parts.push(json!({"functionCall": {}}));
    parts
}

/// Streams the parts, with the numbers in `sizes` for each event.
///
/// Returns the yielded calls and the response.
fn streamed(parts: &[Value], sizes: &[usize]) -> (Vec<ToolCall>, Value) {
    let mut stream = Gemini.accumulator();
    let mut events = Vec::new();
    let mut rest = parts;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let (now, later) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
        rest = later;
        events.extend(stream.push(&json!({"candidates": [{"content": {"parts": now}}]})).unwrap());
    }
    events.extend(stream.push(&json!({"candidates": [{"finishReason": "STOP"}]})).unwrap());
    let end = stream.finish();
    events.extend(end.events);
    let calls = events.into_iter().filter_map(|event| match event {
        StreamEvent::Call(call) => Some(call),
        _ => None,
    });
    (calls.collect(), end.body)
}

proptest! {
    #[test]
    fn calls_round_trip(calls in vec(call(), 1..6)) {
        check_round_trip(Gemini, calls)?;
    }

    #[test]
    fn nothing_panics(payload in json(), more in vec(json(), 0..4)) {
        check_payload(Gemini, &payload)?;
        let _ = Gemini.repair_history(more.clone());
        let mut stream = Gemini.accumulator();
        for event in more.iter().chain([&payload]) {
            let _ = stream.push(event);
        }
        let _ = stream.finish();
    }

    /// The history has every call with legal name and arguments.
    ///
    /// All results, encoded and parsed again, have the ids of the calls.
    #[test]
    fn the_history_contains_every_call(parts in parts()) {
        let content = json!({"role": "model", "parts": parts});
        let calls = Gemini.parse_calls(&content).unwrap();
        let history = Gemini.assistant_messages(&content).unwrap();
        let written: Vec<&Value> = history
            .iter()
            .flat_map(|content| content["parts"].as_array().unwrap())
            .filter_map(|part| part.get("functionCall").or(part.get("function_call")))
            .filter(|call| !call.is_null())
            .collect();
        prop_assert_eq!(written.len(), calls.len());
        for call in &written {
            prop_assert!(FACTS.tools.names.accepts(call["name"].as_str().unwrap()));
            prop_assert!(call["args"].is_object());
        }
        let again: Vec<Value> =
            history.iter().flat_map(|content| Gemini.assistant_messages(content).unwrap()).collect();
        prop_assert_eq!(&again, &history);

        let results: Vec<_> =
            calls.iter().map(|call| toolkit_core::ToolResult::of(call, Ok("done".into()))).collect();
        let mut whole = history.clone();
        whole.extend(Gemini.encode_results(&results));
        prop_assert_eq!(Gemini.repair_history(whole.clone()), whole);
    }

    #[test]
    fn every_split_of_a_stream_yields_the_same_calls(parts in parts(), sizes in vec(1_usize..4, 1..5)) {
        if parts.is_empty() {
            return Ok(());
        }
        let (yielded, response) = streamed(&parts, &sizes);
        let short = |calls: &[ToolCall]| -> Vec<(String, String)> {
            calls.iter().map(|call| (call.name.clone(), call.arguments.as_str().to_owned())).collect()
        };
        let (at_once, _) = streamed(&parts, &[parts.len()]);
        prop_assert_eq!(short(&yielded), short(&at_once));

        // Calls in pieces are yielded when they end, but the response has them in the order of their
        // beginnings.
        let sorted = |mut calls: Vec<ToolCall>| {
            calls.sort_by_key(|call| format!("{call:?}"));
            calls
        };
        let in_response = Gemini.parse_calls(&response).unwrap();
        let text = json!(parts).to_string();
        // Only a stream joins arguments without a name, or a text that is no object, with their call.
        let is_piece = |part: &Value| {
            let names = ["functionCall", "function_call"];
            names.iter().any(|name| part[name]["args"].is_string())
                || Gemini.parse_calls(part).is_ok_and(|calls| calls.is_empty())
        };
        if !text.contains("willContinue") && !text.contains("partialArgs") && !parts.iter().any(is_piece) {
            let whole = Gemini.parse_calls(&json!({"role": "model", "parts": parts})).unwrap();
            prop_assert_eq!(short(&whole), short(&in_response));
        }
        prop_assert_eq!(sorted(in_response), sorted(yielded));
    }

    #[test]
    fn every_cut_of_arguments_yields_the_same_call(
        args in btree_map("[a-z'\"\\\\.\\[\\]é]{1,6}", json(), 0..4),
        cuts in vec(0_usize..5, 0..4),
        sizes in vec(1_usize..4, 1..5),
    ) {
        let args: Map<String, Value> =
            args.into_iter().filter(|(_, value)| !value.is_null()).collect();
        let mut parts = pieces("f", &args, &cuts);
        parts.extend(pieces("f", &args, &[]));
        let (yielded, response) = streamed(&parts, &sizes);
        prop_assert_eq!(yielded.len(), 2);
        for call in &yielded {
            prop_assert_eq!(call.arguments.as_str(), Value::Object(args.clone()).to_string());
        }
        prop_assert_eq!(Gemini.parse_calls(&response).unwrap(), yielded);
    }
}
