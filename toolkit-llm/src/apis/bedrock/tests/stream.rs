//! Tests of streams, and properties of every payload.

use super::{asks, call};
use crate::ApiFormat::Bedrock;
use crate::event_stream::tests::{encode, encode_event};
use crate::tests::{any_json, check_payload, check_round_trip};
use crate::{FinishReason, StreamEvent};
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;

fn start(at: u8, start: Value) -> Value {
    json!({"contentBlockStart": {"contentBlockIndex": at, "start": start}})
}

fn delta(at: u8, delta: Value) -> Value {
    json!({"contentBlockDelta": {"contentBlockIndex": at, "delta": delta}})
}

fn stop(at: u8) -> Value {
    json!({"contentBlockStop": {"contentBlockIndex": at}})
}

#[test]
fn blocks_of_a_stream_are_written_as_in_a_complete_response() {
    let events = [
        delta(0, json!({"reasoningContent": {"redactedContent": "aGk="}})),
        stop(0),
        delta(1, json!({"text": "It "})),
        delta(1, json!({"citation": {"title": "t"}})),
        delta(1, json!({"text": "rains."})),
        stop(1),
        start(2, json!({"toolUse": {"toolUseId": "s", "name": "search", "type": "server_tool_use"}})),
        delta(2, json!({"toolUse": {"input": "{}"}})),
        stop(2),
        start(3, json!({"toolResult": {"toolUseId": "s"}})),
        delta(3, json!({"toolResult": [{"text": "found"}]})),
        stop(3),
        start(4, json!({"toolUse": {"toolUseId": "a", "name": "now"}})),
        stop(4),
        json!({"messageStop": {"stopReason": "tool_use", "additionalModelResponseFields": {"x": 1}}}),
        json!({"futureEvent": {}}),
    ];
    let mut stream = Bedrock.accumulator();
    let bytes: Vec<u8> = events.iter().flat_map(encode_event).collect();
    let mut found: Vec<StreamEvent> = stream.push_bytes(&bytes).into_iter().map(Result::unwrap).collect();
    let mut end = stream.finish();
    found.append(&mut end.events);
    assert!(end.is_complete);
    let content = json!([
        {"reasoningContent": {"redactedContent": "aGk="}},
        {"citationsContent": {"content": [{"text": "It rains."}], "citations": [{"title": "t"}]}},
        {"toolUse": {"toolUseId": "s", "name": "search", "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "s", "content": [{"text": "found"}]}},
        call("a", "now", json!({})),
    ]);
    assert_eq!(end.body["output"]["message"], asks(content));
    assert_eq!(end.body["additionalModelResponseFields"], json!({"x": 1}));
    let response = end.response.unwrap();
    assert_eq!(response.text, "It rains.");
    let calls: Vec<&ToolCall> = found
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Call(call) => Some(call),
            _ => None,
        })
        .collect();
    assert_eq!(calls, response.calls.iter().collect::<Vec<_>>());
    assert_eq!(Bedrock.parse_calls(&json!(events)).unwrap(), response.calls);
}

#[test]
fn a_call_that_was_cut_off_is_refused() {
    for (pieces, ends) in [(vec![], true), (vec!["{\"x\": 1"], true), (vec!["{\"x\""], false)] {
        let mut stream = Bedrock.accumulator();
        stream.push(&start(0, json!({"toolUse": {"toolUseId": "a", "name": "add"}}))).unwrap();
        for piece in pieces {
            stream.push(&delta(0, json!({"toolUse": {"input": piece}}))).unwrap();
        }
        if ends {
            stream.push(&stop(0)).unwrap();
            stream.push(&json!({"messageStop": {"stopReason": "max_tokens"}})).unwrap();
        }
        let response = stream.finish().response.unwrap();
        assert!(response.finish.is_cut());
        assert!(serde_json::from_str::<Value>(response.calls[0].arguments.as_str()).is_err());
    }
}

#[test]
fn a_stream_reports_errors_and_interruptions() {
    let mut stream = Bedrock.accumulator();
    stream.push(&delta(0, json!({"text": "Hel"}))).unwrap();
    let slow = [(":message-type", "exception"), (":exception-type", "throttlingException")];
    let found = stream.push_bytes(&encode(&slow, r#"{"message": "Too many tokens"}"#));
    let error = found[0].as_ref().unwrap_err();
    assert!(error.to_string().contains("Too many tokens"), "{error}");
    for other in [json!({"choices": []}), json!({"type": "ping"}), json!({"message": {}, "done": true})] {
        stream.push(&other).unwrap_err();
    }
    let end = stream.finish();
    assert!(!end.is_complete);
    let response = end.response.unwrap();
    assert_eq!((response.text.as_str(), response.finish), ("Hel", FinishReason::Interrupted));
}

fn json() -> impl Strategy<Value = Value> {
    any_json(
        r#"role content text assistant user output message stopReason tool_use max_tokens toolUse toolUseId name
        input toolResult status error json image document format source bytes s3Location uri reasoningContent
        reasoningText signature redactedContent citationsContent citations citation type server_tool_use toolConfig
        tools toolChoice auto any tool toolSpec inputSchema cachePoint contentBlockStart contentBlockDelta
        contentBlockStop messageStart messageStop metadata usage start delta contentBlockIndex {} {"a": call_0"#,
    )
}

fn event() -> impl Strategy<Value = Value> {
    let at = 0..3_u8;
    prop_oneof![
        json(),
        (at.clone(), json()).prop_map(|(at, block)| start(at, block)),
        (at.clone(), json()).prop_map(|(at, block)| delta(at, block)),
        (at.clone(), "[a-z{}\":1]{0,6}")
            .prop_map(|(at, text)| delta(at, json!({"toolUse": {"input": text}}))),
        at.prop_map(stop),
        Just(json!({"messageStop": {"stopReason": "max_tokens"}})),
    ]
}

proptest! {
    /// No parser panics, and repairing a history twice changes nothing.
    #[test]
    fn any_payload_is_parsed_or_refused(payload in json(), history in prop::collection::vec(json(), 0..5)) {
        check_payload(Bedrock, &payload)?;
        let repaired = Bedrock.repair_history(history);
        prop_assert_eq!(&Bedrock.repair_history(repaired.clone()), &repaired);
    }

    #[test]
    fn calls_round_trip(calls in prop::collection::vec(("[a-z0-9_]{1,20}", "[a-zA-Z0-9_.-]{1,80}"), 1..4)) {
        let mut calls: Vec<ToolCall> =
            calls.into_iter().map(|(id, name)| ToolCall::new(id, name, r#"{"a":[1]}"#)).collect();
        calls.dedup_by(|a, b| a.id == b.id);
        calls.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
        calls.dedup_by(|a, b| a.id == b.id);
        check_round_trip(Bedrock, calls)?;
    }

    /// Every call is yielded once, with the id that it has in the complete response.
    #[test]
    fn every_streamed_call_is_yielded_once(events in prop::collection::vec(event(), 0..8)) {
        let mut stream = Bedrock.accumulator();
        let mut found: Vec<StreamEvent> = Vec::new();
        for event in &events {
            found.extend(stream.push(event).unwrap_or_default());
        }
        let end = stream.finish();
        found.extend(end.events);
        let yielded = found.iter().filter(|event| matches!(event, StreamEvent::Call(_))).count();
        if let Ok(response) = end.response {
            prop_assert_eq!(yielded, response.calls.len());
            let again = Bedrock.parse_calls(&end.body).unwrap();
            prop_assert_eq!(again.iter().map(|call| &call.id).collect::<Vec<_>>(),
                response.calls.iter().map(|call| &call.id).collect::<Vec<_>>());
        }
    }
}
