//! Tests of streamed responses.

use crate::ApiFormat::OpenAiChat;
use crate::stream::{StreamEnd, StreamEvent};
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;

/// Returns a chunk with the given pieces of calls.
pub(super) fn pieces(pieces: Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [
        {"index": 0, "delta": {"tool_calls": pieces}, "finish_reason": null},
    ]})
}

pub(super) fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

pub(super) fn stop(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

pub(super) fn piece(index: u64, arguments: &str) -> Value {
    json!({"index": index, "function": {"arguments": arguments}})
}

pub(super) fn first(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

/// Returns the events yielded after each chunk, and the end of the stream.
pub(super) fn run(chunks: &[Value]) -> (Vec<Vec<StreamEvent>>, StreamEnd) {
    let mut stream = OpenAiChat.accumulator();
    let events = chunks.iter().map(|chunk| stream.push(chunk).unwrap()).collect();
    (events, stream.finish())
}

pub(super) fn calls<'a>(events: impl IntoIterator<Item = &'a StreamEvent>) -> Vec<ToolCall> {
    let call = |event: &StreamEvent| match event {
        StreamEvent::Call(call) => Some(call.clone()),
        _ => None,
    };
    events.into_iter().filter_map(call).collect()
}

/// Checks the yielded calls. Each expected call has the index of the chunk after which it was yielded, its id, its name
/// and its arguments. Calls yielded at the end of the stream have the number of chunks as index.
#[track_caller]
pub(super) fn check(chunks: &[Value], expected: &[(usize, &str, &str, &str)]) {
    let (events, end) = run(chunks);
    let all: Vec<&Vec<StreamEvent>> = events.iter().chain([&end.events]).collect();
    let yielded: Vec<(usize, ToolCall)> = all
        .iter()
        .enumerate()
        .flat_map(|(at, events)| calls(*events).into_iter().map(move |call| (at, call)))
        .collect();
    let seen: Vec<_> = yielded
        .iter()
        .map(|(at, call)| (*at, call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
        .collect();
    assert_eq!(seen, expected);

    let mut yielded: Vec<ToolCall> = yielded.into_iter().map(|(_, call)| call).collect();
    let mut parsed = OpenAiChat.parse_calls(&end.body).unwrap();
    let history = OpenAiChat.assistant_messages(&end.body).unwrap();
    assert_eq!(OpenAiChat.parse_calls(&history[0]).unwrap().len(), parsed.len());
    parsed.sort_by_key(|call| call.id.as_str().to_owned());
    yielded.sort_by_key(|call| call.id.as_str().to_owned());
    assert_eq!(parsed, yielded, "the whole response has the calls that were yielded");
}

#[test]
fn a_call_is_yielded_when_the_model_has_left_it() {
    check(
        &[
            delta(json!({"role": "assistant", "content": null})),
            pieces(json!([first(0, "a", "add", "")])),
            pieces(json!([piece(0, "{\"x\"")])),
            pieces(json!([piece(0, ": 1}")])),
            pieces(json!([first(1, "b", "sub", "")])),
            pieces(json!([piece(1, "{}")])),
            stop("tool_calls"),
        ],
        &[(4, "a", "add", "{\"x\": 1}"), (7, "b", "sub", "{}")],
    );
}

#[test]
fn fragments_may_alternate() {
    check(
        &[
            pieces(json!([first(1, "b", "sub", "{\"y\""), first(0, "a", "add", "{")])),
            pieces(json!([piece(1, ": \"}")])),
            pieces(json!([piece(0, "\"x\": {}")])),
            pieces(json!([piece(1, "\"}")])),
            pieces(json!([piece(0, "}")])),
            stop("tool_calls"),
        ],
        &[(4, "b", "sub", "{\"y\": \"}\"}"), (5, "a", "add", "{\"x\": {}}")],
    );
    let (_, end) = run(&[pieces(json!([first(1, "b", "sub", "{}"), first(0, "a", "add", "{}")]))]);
    let ids: Vec<String> =
        OpenAiChat.parse_calls(&end.body).unwrap().iter().map(|call| call.id.to_string()).collect();
    assert_eq!(ids, ["a", "b"], "the response has the order of the indices");
}

#[test]
fn a_whole_message_in_one_chunk() {
    let two = json!([first(0, "a", "add", "{\"x\": 1}"), first(1, "b", "sub", "{\"y\": 1}")]);
    let expected = [(0, "a", "add", "{\"x\": 1}"), (0, "b", "sub", "{\"y\": 1}")];
    check(
        &[json!({"choices": [{"delta": {"role": "assistant", "tool_calls": two}, "finish_reason": "stop"}]})],
        &expected,
    );
    let whole = json!({"choices": [
        {"message": {"role": "assistant", "content": "x", "tool_calls": two}, "finish_reason": "tool_calls"},
    ]});
    check(std::slice::from_ref(&whole), &expected);
    check(&[pieces(two.clone()), whole], &[(0, "a", "add", "{\"x\": 1}"), (1, "b", "sub", "{\"y\": 1}")]);
}

#[test]
fn all_calls_with_index_zero() {
    let call = |id: &str, city: &str| json!([first(0, id, "weather", &format!("{{\"city\":\"{city}\"}}"))]);
    check(
        &[pieces(call("a", "Paris")), pieces(call("b", "Rome")), stop("stop")],
        &[(1, "a", "weather", "{\"city\":\"Paris\"}"), (2, "b", "weather", "{\"city\":\"Rome\"}")],
    );
    check(
        &[pieces(json!([first(0, "a", "now", "")])), pieces(json!([first(0, "b", "now", "")])), stop("stop")],
        &[(3, "a", "now", ""), (3, "b", "now", "")],
    );
}

#[test]
fn without_an_index() {
    let named =
        |id: &str, arguments: &str| json!([{"id": id, "function": {"name": "f", "arguments": arguments}}]);
    let more = |arguments: &str| json!([{"function": {"arguments": arguments}}]);
    check(
        &[
            pieces(named("a", "{")),
            pieces(more("\"x\":")),
            pieces(json!([{"id": "a", "function": {"arguments": "1}"}}])),
            pieces(named("b", "{")),
            pieces(more("}")),
            stop("stop"),
        ],
        &[(3, "a", "f", "{\"x\":1}"), (6, "b", "f", "{}")],
    );
    let (events, _) = run(&[pieces(json!([
        {"function": {"name": "f", "arguments": {"x": 1}}}, {"function": {"name": "f", "arguments": {"x": 2}}},
    ]))]);
    assert_eq!(calls(&events[0])[0].arguments.as_str(), "{\"x\":1}");
}

#[test]
fn ids_and_names_that_are_said_in_every_piece() {
    for ids in [["a", "a", "a"], ["a", "x", "y"], ["a", "", ""]] {
        let [one, two, three] = ids.map(Some).map(Option::unwrap_or_default);
        check(
            &[
                pieces(json!([first(0, one, "add", "")])),
                pieces(json!([first(0, two, if two == "x" { "" } else { "add" }, "{\"x\": ")])),
                pieces(json!([first(0, three, "add", "1}")])),
                stop("tool_calls"),
            ],
            &[(3, "a", "add", "{\"x\": 1}")],
        );
    }
    let whole = first(0, "a", "add", "{\"x\": 1}");
    check(
        &[pieces(json!([whole])), pieces(json!([whole])), pieces(json!([whole])), stop("stop")],
        &[(3, "a", "add", "{\"x\": 1}")],
    );
    check(
        &[
            pieces(json!([first(0, "a", "get_", "")])),
            pieces(json!([{"index": 0, "function": {"name": "time"}}])),
            stop("tool_calls"),
        ],
        &[(3, "a", "get_time", "")],
    );
}

#[test]
fn what_says_nothing_makes_no_call() {
    check(
        &[
            pieces(json!([{"index": 0, "id": null, "function": {"name": "", "arguments": ""}}, null, {}])),
            pieces(json!([])),
            pieces(Value::Null),
            delta(json!({"content": "hi", "tool_calls": null})),
        ],
        &[],
    );
}

#[test]
fn missing_ids_are_made_once() {
    let (events, end) = run(&[
        pieces(json!([{"index": 0, "function": {"name": "f", "arguments": "{}"}}])),
        pieces(json!([{"index": 1, "id": "", "function": {"name": "g", "arguments": "{}"}}])),
    ]);
    let StreamEvent::CallStarted { id, name } = &events[0][0] else { panic!("{events:?}") };
    let parsed = OpenAiChat.parse_calls(&end.body).unwrap();
    assert_eq!((parsed[0].id.as_str(), name.as_str()), (id.as_str(), "f"));
    assert_ne!(parsed[0].id, parsed[1].id);
}

#[test]
fn what_was_cut_off_comes_at_the_end() {
    check(
        &[
            pieces(json!([first(0, "a", "add", "{\"x\": 1}"), first(1, "b", "sub", "{\"y\": \"so m")])),
            stop("length"),
        ],
        &[(0, "a", "add", "{\"x\": 1}"), (2, "b", "sub", "{\"y\": \"so m")],
    );
    let (_, end) = run(&[pieces(json!([first(0, "b", "sub", "{\"y\": \"so m")])), stop("length")]);
    let history = OpenAiChat.assistant_messages(&end.body).unwrap();
    assert_eq!(
        history[0]["tool_calls"][0]["function"]["arguments"],
        r#"{"invalid_arguments":"{\"y\": \"so m"}"#
    );
}

/// Without arguments, the tool would run differently than the model intended.
#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_not_run() {
    let begun = pieces(json!([first(0, "a", "f", "")]));
    check(&[begun.clone(), stop("length")], &[(2, "a", "f", "{")]);
    check(&[begun.clone(), stop("a word of next year")], &[(2, "a", "f", "{")]);
    check(std::slice::from_ref(&begun), &[(1, "a", "f", "{")]);
    check(&[begun.clone(), stop("tool_calls")], &[(2, "a", "f", "")]);
    check(&[begun.clone(), json!("[DONE]")], &[(2, "a", "f", "")]);
    let next = pieces(json!([first(1, "b", "g", "{}")]));
    check(&[begun, next, stop("length")], &[(3, "a", "f", ""), (3, "b", "g", "{}")]);
}

#[test]
fn arguments_that_are_no_object() {
    check(
        &[pieces(json!([first(0, "a", "f", "[1]"), first(1, "b", "g", "{} {}")])), stop("stop")],
        &[(1, "a", "f", "[1]"), (1, "b", "g", "{} {}")],
    );
}

#[test]
fn what_the_server_wants_back_is_kept() {
    let signed = json!({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "sig"}}});
    let (_, end) = run(&[pieces(json!([signed])), stop("stop")]);
    let parsed = OpenAiChat.parse_calls(&end.body).unwrap();
    assert_eq!(
        parsed[0].extras.get("openai_chat", "extra_content").unwrap()["google"]["thought_signature"],
        "sig"
    );
}

#[test]
fn free_text_is_complete_at_the_end() {
    let custom = |input: &str| json!([{"index": 0, "id": "c", "type": "custom", "custom": {"name": "patch", "input": input}}]);
    let more = |input: &str| json!([{"index": 0, "custom": {"input": input}}]);
    check(
        &[pieces(custom("{}")), pieces(more(" *** ")), pieces(more("End")), stop("tool_calls")],
        &[(4, "c", "patch", r#"{"input":"{} *** End"}"#)],
    );
}

#[test]
fn the_older_function_call() {
    let (_, end) = run(&[
        delta(json!({"function_call": {"name": "add", "arguments": ""}})),
        delta(json!({"function_call": {"arguments": "{\"x\": 1}"}})),
        stop("function_call"),
    ]);
    let parsed = OpenAiChat.parse_calls(&end.body).unwrap();
    assert_eq!((parsed[0].name.as_str(), parsed[0].arguments.as_str()), ("add", "{\"x\": 1}"));
    let call = first(0, "a", "add", "{}");
    check(
        &[
            delta(json!({"tool_calls": [call], "function_call": {"name": "add", "arguments": "{}"}})),
            stop("tool_calls"),
        ],
        &[(2, "a", "add", "{}")],
    );
}

#[test]
fn the_response_is_as_if_it_had_come_whole() {
    let chunk = |choices: Value| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "usage": null, "obfuscation": "xyz", "choices": choices})
    };
    let (events, end) = run(&[
        chunk(
            json!([{"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": {"content": [1]}, "finish_reason": null}]),
        ),
        chunk(json!([{"index": 0, "delta": {"reasoning_content": "h"}, "finish_reason": null}])),
        chunk(
            json!([{"index": 0, "delta": {"reasoning_content": "m", "content": "Hel"}, "logprobs": {"content": [2]}}]),
        ),
        chunk(json!([{"index": 0, "delta": {"content": "lo"}, "finish_reason": ""}])),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": "stop"}])),
        json!({"id": "chatcmpl-1", "choices": [], "usage": {"total_tokens": 3}}),
        json!("[DONE]"),
    ]);
    assert_eq!(
        events.concat(),
        [
            StreamEvent::Reasoning("h".to_owned()),
            StreamEvent::Reasoning("m".to_owned()),
            StreamEvent::Text("Hel".to_owned()),
            StreamEvent::Text("lo".to_owned()),
        ]
    );
    assert_eq!(
        end.body,
        json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "usage": {"total_tokens": 3}, "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": "Hello", "reasoning_content": "hm"},
            "logprobs": {"content": [1, 2]},
            "finish_reason": "stop",
        }]})
    );
}

#[test]
fn several_choices() {
    let choice = |index: u64, delta: Value| json!({"choices": [{"index": index, "delta": delta}]});
    let (events, end) = run(&[
        choice(0, json!({"content": "a", "tool_calls": [first(0, "a", "f", "{")]})),
        choice(1, json!({"content": "b", "tool_calls": [first(0, "b", "f", "{}")]})),
        choice(0, json!({"tool_calls": [piece(0, "}")]})),
    ]);
    assert!(!events.concat().contains(&StreamEvent::Text("b".to_owned())));
    let ids: Vec<String> = calls(&end.events).iter().map(|call| call.id.to_string()).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(end.body["choices"][1]["message"]["content"], "b");
}

#[test]
fn errors_have_the_words_of_the_service() {
    let mut stream = OpenAiChat.accumulator();
    let call = pieces(json!([first(0, "a", "f", "{}"), first(1, "b", "f", "{}")]));
    let failed =
        json!({"error": {"message": "Overloaded"}, "choices": [{"delta": {}, "finish_reason": "error"}]});
    let error = stream.push(&json!([call, failed])).unwrap_err();
    assert_eq!(error.expected(), "more of the answer (the service reported an error: Overloaded)");
    for (event, path) in [
        (json!(1), ""),
        (json!({"type": "content_block_start", "index": 0}), "choices"),
        (json!({"candidates": []}), "choices"),
        (json!({"choices": 1}), "choices"),
        (json!({"choices": [1]}), "choices[0]"),
        (json!({"choices": [{"delta": 1}]}), "choices[0].delta"),
        (json!({"choices": [{"delta": {"tool_calls": 1}}]}), "choices[0].delta.tool_calls"),
    ] {
        assert_eq!(stream.push(&event).unwrap_err().path(), path, "{event}");
    }
    let mut events = stream.push(&json!({"type": "ping"})).unwrap();
    events.extend(stream.finish().events);
    let ids: Vec<String> = calls(&events).iter().map(|call| call.id.to_string()).collect();
    assert_eq!(ids, ["a", "b"], "what came before an error is not lost");
}

#[test]
fn a_stream_of_nothing_is_no_answer() {
    let end = OpenAiChat.accumulator().finish();
    assert!(end.events.is_empty());
    assert_eq!(OpenAiChat.parse_calls(&end.body).unwrap_err().expected(), "a message of the model");
}
