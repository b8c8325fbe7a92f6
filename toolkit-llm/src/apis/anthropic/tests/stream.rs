//! Tests of streams, both complete and cut off.

use crate::ApiFormat::Anthropic;
use crate::{StreamEnd, StreamEvent};
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn start_call(index: u64, id: &str, name: &str) -> Value {
    start(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn input(index: u64, text: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": text}))
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn message_start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "content": [], "model": "m", "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 25, "output_tokens": 1}}})
}

fn message_delta(stop_reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": null},
        "usage": {"output_tokens": 57, "input_tokens": null}})
}

fn message_stop() -> Value {
    json!({"type": "message_stop"})
}

/// Pushes the events into a stream. Returns the events yielded for each of them, and the end of the stream. Checks that
/// the response has exactly the yielded calls.
#[track_caller]
fn play(events: &[Value]) -> (Vec<Vec<StreamEvent>>, StreamEnd) {
    let mut stream = Anthropic.accumulator();
    let brought: Vec<Vec<StreamEvent>> = events.iter().map(|event| stream.push(event).unwrap()).collect();
    let end = stream.finish();
    let mut yielded = calls(brought.iter().flatten().chain(&end.events));
    let mut parsed = Anthropic.parse_calls(&end.body).unwrap();
    for calls in [&mut yielded, &mut parsed] {
        calls.sort_by(|one, other| one.id.as_str().cmp(other.id.as_str()));
    }
    assert_eq!(yielded, parsed);
    (brought, end)
}

fn calls<'a>(events: impl IntoIterator<Item = &'a StreamEvent>) -> Vec<ToolCall> {
    let calls = events.into_iter().filter_map(|event| match event {
        StreamEvent::Call(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

/// Checks the id, the name and the arguments of every call in the response that the events produce.
#[track_caller]
fn check(events: &[Value], expected: &[(&str, &str, &str)]) {
    let (_, end) = play(events);
    let parsed = Anthropic.parse_calls(&end.body).unwrap();
    let parsed: Vec<_> =
        parsed.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(parsed, expected);
}

#[test]
fn the_response_is_as_if_it_had_come_whole() {
    let citation = json!({"type": "char_location", "cited_text": "x"});
    let (brought, end) = play(&[
        message_start(),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "The "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "weather"})),
        delta(0, json!({"type": "signature_delta", "signature": "EqQB"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "EmwK"})),
        stop(1),
        start(2, json!({"type": "text", "text": "Let"})),
        delta(2, json!({"type": "text_delta", "text": " me"})),
        delta(2, json!({"type": "citations_delta", "citation": citation})),
        stop(2),
        start(3, json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}})),
        input(3, "{\"query\":"),
        input(3, "\"x\"}"),
        stop(3),
        start(4, json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []})),
        stop(4),
        start(
            5,
            json!({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}, "caller": {"type": "direct"}}),
        ),
        input(5, ""),
        input(5, "{\"a\""),
        input(5, ": 1}"),
        stop(5),
        json!({"type": "of_next_year"}),
        message_delta("tool_use"),
        message_stop(),
    ]);
    assert_eq!(
        end.body,
        json!({
            "type": "message", "role": "assistant", "id": "msg_1", "model": "m",
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {"input_tokens": 25, "output_tokens": 57},
            "content": [
                {"type": "thinking", "thinking": "The weather", "signature": "EqQB"},
                {"type": "redacted_thinking", "data": "EmwK"},
                {"type": "text", "text": "Let me", "citations": [citation]},
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}, "caller": {"type": "direct"}},
            ],
        })
    );
    let events: Vec<StreamEvent> = brought.concat();
    assert_eq!(events[..2], ["The ", "weather"].map(|text| StreamEvent::Reasoning(text.to_owned())));
    assert_eq!(events[2..4], ["Let", " me"].map(|text| StreamEvent::Text(text.to_owned())));
    let begun = StreamEvent::CallStarted { id: "toolu_1".into(), name: "add".to_owned() };
    let hosted = events[4..6]
        .iter()
        .all(|event| matches!(event, StreamEvent::Hosted(call) if call.id == "srvtoolu_1"));
    assert!(hosted, "the search and its output");
    assert_eq!(events[6], begun);
    assert_eq!(calls(&brought[23]), calls(&events), "the call is out when its block ends");
    assert_eq!(events.len(), 8);
    assert!(end.events.is_empty());
}

#[test]
fn blocks_may_interleave() {
    check(
        &[
            message_start(),
            start(0, json!({"type": "tool_use", "id": "a", "name": "f"})),
            input(0, "{\"x\""),
            start(1, json!({"type": "tool_use", "id": "b", "name": "g"})),
            input(1, "{\"y\":"),
            input(0, ":1}"),
            input(1, "2}"),
            stop(1),
            stop(0),
        ],
        &[("a", "f", r#"{"x":1}"#), ("b", "g", r#"{"y":2}"#)],
    );
}

#[test]
fn blocks_stand_in_the_order_of_their_indices() {
    check(
        &[start_call(1, "b", "f"), start_call(0, "a", "f"), stop(1), stop(0), message_delta("tool_use")],
        &[("a", "f", "{}"), ("b", "f", "{}")],
    );
}

#[test]
fn an_empty_input_is_an_empty_object() {
    let end = message_delta("tool_use");
    check(&[start_call(0, "a", "f"), stop(0), end.clone()], &[("a", "f", "{}")]);
    check(&[start_call(0, "a", "f"), input(0, ""), input(0, " "), stop(0), end], &[("a", "f", "{}")]);
    let whole = json!({"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}});
    check(&[start(0, whole), stop(0)], &[("a", "f", r#"{"x":1}"#)]);
}

#[test]
fn what_was_cut_off_comes_as_it_is() {
    for cut in
        [&[][..], &[message_delta("max_tokens")], &[stop(0), message_delta("max_tokens"), message_stop()]]
    {
        let mut events = vec![message_start(), start_call(0, "a", "f"), input(0, "{\"city\": \"Os")];
        events.extend_from_slice(cut);
        check(&events, &[("a", "f", "{\"city\": \"Os")]);
        let (_, end) = play(&events);
        assert_eq!(
            Anthropic.assistant_messages(&end.body).unwrap()[0]["content"][0]["input"],
            json!({"invalid_arguments": "{\"city\": \"Os"})
        );
    }
}

/// With the arguments `{}`, the tool would run with other arguments than the model was about to write.
#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_not_run() {
    let begun = [message_start(), start_call(0, "a", "f")];
    for cut in [
        &[][..],
        &[stop(0)],
        &[message_delta("max_tokens")],
        &[stop(0), message_delta("max_tokens"), message_stop()],
        &[stop(0), message_stop()],
        &[message_stop()],
        &[message_delta("a_word_of_next_year"), message_stop()],
        &[input(0, ""), stop(0), message_delta("model_context_window_exceeded")],
    ] {
        check(&[&begun[..], cut].concat(), &[("a", "f", "{")]);
    }
    for whole in [
        &[message_delta("tool_use")][..],
        &[stop(0), start_call(1, "b", "g"), stop(1), message_delta("tool_use")],
        &[stop(0), start_call(1, "b", "g"), input(1, "{}"), stop(1), message_delta("max_tokens")],
    ] {
        let (brought, end) = play(&[&begun[..], whole].concat());
        let calls = calls(brought.iter().flatten().chain(&end.events));
        assert!(calls.iter().all(|call| call.arguments.as_str() == "{}"), "{calls:?}");
    }
}

#[test]
fn the_end_of_the_message_completes_what_is_open() {
    let (brought, end) = play(&[start_call(0, "a", "f"), input(0, "{\"x\":1}"), message_stop()]);
    assert_eq!(calls(&brought[2]).len(), 1);
    assert!(end.events.is_empty());
    let (_, end) = play(&[start_call(0, "a", "f"), input(0, "{}")]);
    assert_eq!(calls(&end.events).len(), 1);
}

#[test]
fn indices_may_be_missing_or_the_same() {
    let without = |mut event: Value| {
        event.as_object_mut().unwrap().remove("index");
        event
    };
    let events = [
        start_call(0, "a", "f"),
        input(0, "{\"x\":1}"),
        stop(0),
        start_call(0, "b", "f"),
        input(0, "{}"),
        start_call(0, "c", "f"),
        input(0, "{\"y\":2}"),
        stop(0),
    ];
    let expected = [("a", "f", r#"{"x":1}"#), ("b", "f", "{}"), ("c", "f", r#"{"y":2}"#)];
    check(&events, &expected);
    check(&events.map(without), &expected);
}

#[test]
fn a_start_that_is_sent_again_is_no_second_call() {
    check(
        &[
            start_call(0, "a", "f"),
            input(0, "{\"x\""),
            start_call(0, "a", "f"),
            input(0, ":1}"),
            stop(0),
            stop(0),
        ],
        &[("a", "f", r#"{"x":1}"#)],
    );
}

#[test]
fn a_start_that_is_lost_does_not_lose_the_rest() {
    let (brought, end) = play(&[
        delta(0, json!({"type": "text_delta", "text": "hi"})),
        input(1, "{\"x\":1}"),
        stop(1),
        stop(9),
        delta(7, json!({"type": "of_next_year"})),
    ]);
    assert_eq!(brought[0], [StreamEvent::Text("hi".to_owned())]);
    assert!(calls(brought.iter().flatten()).is_empty(), "a call without a name is no call");
    assert_eq!(end.body["content"], json!([{"type": "text", "text": "hi"}]));
}

#[test]
fn calls_without_an_id_get_one() {
    let call = json!({"type": "tool_use", "name": "f", "input": {}});
    let events = [message_start(), start(0, call.clone()), start(1, call), start_call(2, "", "g")];
    let (brought, end) = play(&events);
    let begun: Vec<&str> = brought
        .iter()
        .flatten()
        .map(|event| match event {
            StreamEvent::CallStarted { id, .. } => id.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    let parsed = Anthropic.parse_calls(&end.body).unwrap();
    assert_eq!(parsed.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), begun);
    assert!(begun[0] != begun[1] && begun[1] != begun[2] && begun[0] != begun[2]);
    assert_eq!(play(&events).1.body, end.body);
}

#[test]
fn a_whole_message_is_a_stream_of_one() {
    let message = json!({"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
        {"type": "text", "text": "hm"}, {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
    ]});
    let (brought, end) = play(std::slice::from_ref(&message));
    assert_eq!(calls(&brought[0]).len(), 1);
    assert_eq!(end.body, message);
}

#[test]
fn blocks_of_pieces_that_are_whole_fields() {
    let (_, end) = play(&[
        start(0, json!({"type": "compaction", "content": null})),
        delta(0, json!({"type": "compaction_delta", "content": "so far", "encrypted_content": "Eq"})),
        stop(0),
    ]);
    let block = json!({"type": "compaction", "content": "so far", "encrypted_content": "Eq"});
    assert_eq!(end.body["content"], json!([block]));
}

#[test]
fn errors_tell_what_the_service_said_and_lose_nothing() {
    let mut stream = Anthropic.accumulator();
    let push = |stream: &mut crate::StreamAccumulator, event: &Value| {
        let error = stream.push(event).unwrap_err();
        (error.path().to_owned(), error.expected().to_owned())
    };
    stream.push(&start_call(0, "a", "f")).unwrap();
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let (path, expected) = push(&mut stream, &overloaded);
    assert_eq!(path, "error");
    assert_eq!(expected, "an event of the response (the service reported an error: Overloaded)");
    assert_eq!(push(&mut stream, &json!({"choices": []})).0, "type");
    assert_eq!(push(&mut stream, &json!({"type": "response.created"})).0, "type");
    assert_eq!(push(&mut stream, &json!("data")).0, "");
    stream.push(&input(0, "{\"x\":1}")).unwrap();
    assert_eq!(calls(&stream.finish().events)[0].arguments.as_str(), r#"{"x":1}"#);
}

#[test]
fn several_events_may_come_in_a_list() {
    let list = json!([start_call(0, "a", "f"), input(0, "{}"), stop(0), start_call(1, "b", "g"), stop(1)]);
    check(&[list, message_delta("tool_use")], &[("a", "f", "{}"), ("b", "g", "{}")]);
}

#[test]
fn an_empty_stream_says_nothing() {
    let (_, end) = play(&[]);
    assert_eq!(end.body, json!({"type": "message", "role": "assistant", "content": []}));
    assert!(Anthropic.assistant_messages(&end.body).unwrap().is_empty());
}
