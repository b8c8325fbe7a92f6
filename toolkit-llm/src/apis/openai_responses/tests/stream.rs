//! Tests of streams. Each call is yielded as soon as it is complete, and the response at the end.

use super::{body, call, said, thought};
use crate::ApiFormat::OpenAiResponses;
use crate::stream::{StreamEnd, StreamEvent};
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;

/// Pushes the events into a stream. Returns the yielded events and the end of the stream.
#[track_caller]
fn run(events: &[Value]) -> (Vec<StreamEvent>, StreamEnd) {
    let mut stream = OpenAiResponses.accumulator();
    let brought = events.iter().flat_map(|event| stream.push(event).unwrap()).collect();
    (brought, stream.finish())
}

fn calls<'a>(events: impl IntoIterator<Item = &'a StreamEvent>) -> Vec<ToolCall> {
    let calls = events.into_iter().filter_map(|event| match event {
        StreamEvent::Call(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

/// Checks that every expected call is yielded once and is in the complete response. Returns the body of this response.
#[track_caller]
fn check(events: &[Value], expected: &[(&str, &str, &str)]) -> Value {
    let (brought, end) = run(events);
    let mut yielded = calls(brought.iter().chain(&end.events));
    let mut in_response = OpenAiResponses.parse_calls(&end.body).unwrap();
    let parts: Vec<_> = in_response
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
        .collect();
    assert_eq!(parts, expected);
    yielded.sort_by(|a, b| a.id.cmp(&b.id));
    in_response.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(yielded, in_response);
    end.body
}

fn added(index: u64, item: &Value) -> Value {
    let mut item = item.clone();
    if item["type"] == "function_call" {
        item["arguments"] = json!("");
        item["status"] = json!("in_progress");
    }
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn delta(index: u64, id: &str, text: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": id, "delta": text})
}

fn completed(response: Value) -> Value {
    json!({"type": "response.completed", "response": response})
}

fn without(mut event: Value, names: &[&str]) -> Value {
    for name in names {
        event.as_object_mut().unwrap().shift_remove(*name);
    }
    event
}

#[test]
fn a_call_is_yielded_when_its_item_is_done() {
    let mut stream = OpenAiResponses.accumulator();
    let add = call("a", "add", "{\"a\": 1}");
    let started = StreamEvent::CallStarted { id: "a".into(), name: "add".to_owned() };
    let whole = OpenAiResponses.parse_calls(&add).unwrap().remove(0);
    assert_eq!(stream.push(&added(0, &add)).unwrap(), [started]);
    assert_eq!(stream.push(&delta(0, "fc_a", "{\"a\"")).unwrap(), []);
    assert_eq!(stream.push(&delta(0, "fc_a", ": 1}")).unwrap(), []);
    assert_eq!(stream.push(&done(0, &add)).unwrap(), [StreamEvent::Call(whole)]);
    assert_eq!(stream.push(&completed(body(json!([add])))).unwrap(), []);
    let end = stream.finish();
    assert_eq!((end.events, end.body), (Vec::new(), body(json!([add]))));
}

#[test]
fn interleaved_calls_without_indices() {
    // llama.cpp sends no `output_index` and no `arguments.done`, and ends all items at the end.
    let (oslo, rome) =
        (call("a", "weather", "{\"city\": \"Oslo\"}"), call("b", "weather", "{\"city\": \"Rome\"}"));
    let bare = |event| without(event, &["output_index"]);
    let events = [
        json!({"type": "response.created", "response": {"id": "resp_1", "object": "response", "status": "in_progress"}}),
        bare(added(0, &oslo)),
        bare(delta(0, "fc_a", "{\"city\": \"Os")),
        bare(added(1, &rome)),
        bare(delta(1, "fc_b", "{\"city\": ")),
        bare(delta(0, "fc_a", "lo\"}")),
        bare(delta(1, "fc_b", "\"Rome\"}")),
        bare(done(0, &oslo)),
        bare(done(1, &rome)),
        completed(body(json!([oslo, rome]))),
    ];
    let expected = [("a", "weather", "{\"city\": \"Oslo\"}"), ("b", "weather", "{\"city\": \"Rome\"}")];
    for end in [events.len(), events.len() - 1, events.len() - 2, events.len() - 3] {
        check(&events[..end], &expected);
    }
    assert_eq!(check(&events, &expected), body(json!([oslo, rome])));
}

#[test]
fn only_an_index_or_only_a_call_id_tells_items_apart() {
    let (one, two) = (call("a", "f", "{\"x\":1}"), call("b", "f", "{\"x\":2}"));
    let expected = [("a", "f", "{\"x\":1}"), ("b", "f", "{\"x\":2}")];
    // Every event has a new item id.
    let renamed = |item: &Value, id: &str| {
        let mut item = item.clone();
        item["id"] = json!(id);
        item
    };
    check(
        &[
            added(0, &renamed(&one, "x1")),
            added(1, &renamed(&two, "x2")),
            delta(1, "x3", "{\"x\":2}"),
            delta(0, "x4", "{\"x\":1}"),
            done(1, &renamed(&two, "x5")),
            done(0, &renamed(&one, "x6")),
            completed(body(json!([renamed(&one, "x7"), renamed(&two, "x8")]))),
        ],
        &expected,
    );
    let by_call = |event: Value, id: &str| {
        let mut event = without(event, &["output_index", "item_id"]);
        event["call_id"] = json!(id);
        event
    };
    let (one, two) = (without(one, &["id"]), without(two, &["id"]));
    check(
        &[
            by_call(added(0, &one), "a"),
            by_call(added(1, &two), "b"),
            by_call(delta(1, "", "{\"x\":2}"), "b"),
            by_call(delta(0, "", "{\"x\":1}"), "a"),
        ],
        &expected,
    );
}

#[test]
fn an_index_that_is_always_zero_is_no_index() {
    let (one, two) = (call("a", "f", "{\"x\":1}"), call("b", "f", "{\"x\":2}"));
    let events = [
        added(0, &one),
        added(0, &two),
        delta(0, "fc_a", "{\"x\":1}"),
        delta(0, "fc_b", "{\"x\":2}"),
        done(0, &one),
        done(0, &two),
        completed(body(json!([one, two]))),
    ];
    let expected = [("a", "f", "{\"x\":1}"), ("b", "f", "{\"x\":2}")];
    for end in 4..=events.len() {
        check(&events[..end], &expected);
    }
    // Nor is an index that changes.
    check(&[added(0, &one), added(1, &two), done(2, &one), done(3, &two)], &expected);
}

#[test]
fn two_calls_may_have_one_id() {
    let (one, mut two) = (call("same", "f", "{\"x\":1}"), call("same", "g", "{\"x\":2}"));
    two["id"] = json!("fc_other");
    let expected = [("same", "f", "{\"x\":1}"), ("same", "g", "{\"x\":2}")];
    let events =
        [added(0, &one), added(1, &two), done(0, &one), done(1, &two), completed(body(json!([one, two])))];
    check(&events[..4], &expected);
    check(&events, &expected);
    let bare: Vec<Value> = events.iter().map(|event| without(event.clone(), &["output_index"])).collect();
    check(&bare, &expected);
    // The items have no ids of their own either.
    let (one, two) = (without(one, &["id"]), without(two, &["id"]));
    let bare = |event| without(event, &["output_index"]);
    let events = [
        bare(added(0, &one)),
        bare(done(0, &one)),
        bare(added(0, &two)),
        bare(done(0, &two)),
        completed(body(json!([one, two]))),
    ];
    check(&events, &expected);
    check(&events[..4], &expected);
    check(&[bare(done(0, &one)), bare(done(0, &two)), bare(done(0, &two))], &expected);
}

#[test]
fn what_is_told_twice_is_one_call() {
    let add = call("a", "add", "{}");
    let events = [
        added(0, &add),
        added(0, &add),
        done(0, &add),
        done(0, &add),
        completed(body(json!([add]))),
        completed(body(json!([add]))),
    ];
    check(&events, &[("a", "add", "{}")]);
}

#[test]
fn calls_without_an_id_get_one() {
    let bare = |arguments: &str| json!({"type": "function_call", "name": "f", "arguments": arguments});
    let events = [
        without(done(0, &bare("{\"x\":1}")), &["output_index"]),
        without(done(1, &bare("{\"x\":2}")), &["output_index"]),
        completed(body(json!([bare("{\"x\":1}"), bare("{\"x\":2}")]))),
    ];
    let (brought, end) = run(&events);
    let yielded = calls(&brought);
    assert_ne!(yielded[0].id, yielded[1].id);
    assert_eq!(OpenAiResponses.parse_calls(&end.body).unwrap(), yielded);
    assert_eq!(run(&events).0, brought);
}

#[test]
fn a_stream_without_an_end() {
    let add = call("a", "add", "{\"a\": 1}");
    let response = check(&[added(0, &add), delta(0, "fc_a", "{\"a\":")], &[("a", "add", "{\"a\":")]);
    assert_eq!(
        (&response["status"], &response["output"][0]["status"]),
        (&json!("incomplete"), &json!("incomplete"))
    );
    let history = OpenAiResponses.assistant_messages(&response).unwrap();
    assert_eq!(history[0]["arguments"], r#"{"invalid_arguments":"{\"a\":"}"#);
    // The stream begins in the middle of a call. A call without a name is no call.
    check(&[delta(0, "fc_a", "{\"a\":")], &[]);
    check(&[], &[]);
}

#[test]
fn the_last_response_is_the_authority() {
    let (add, sub) = (call("a", "add", "{\"a\": 1}"), call("b", "sub", "{}"));
    let both = [("a", "add", "{\"a\": 1}"), ("b", "sub", "{}")];
    // Only the final response has the calls, or some of them.
    assert_eq!(check(&[completed(body(json!([add, sub])))], &both), body(json!([add, sub])));
    check(&[done(0, &add), completed(body(json!([add, sub])))], &both);
    // Some servers leave the output of the final response out.
    let mut response = body(json!([]));
    response["usage"] = json!({"total_tokens": 7});
    let response =
        check(&[added(0, &add), delta(0, "fc_a", "{\"a\": 1}"), done(1, &sub), completed(response)], &both);
    assert_eq!(response["usage"]["total_tokens"], 7);
    assert_eq!(response["output"][0]["status"], "completed");
    // Fragments of an item that the final response lists under another id.
    check(&[delta(5, "fc_x", "{\"a\""), completed(body(json!([add, sub])))], &both);
}

#[test]
fn text_and_reasoning_are_told_as_they_come() {
    let event = |name: &str, index: &str, text: &str| json!({"type": format!("response.{name}"), "item_id": name.split('.').next(), index: 0, "delta": text});
    let events = [
        event("reasoning_summary_text.delta", "summary_index", "hm"),
        event("reasoning_summary_text.delta", "summary_index", "m"),
        event("output_text.delta", "content_index", "Let "),
        event("output_text.delta", "content_index", "me"),
        json!({"type": "response.output_text.done", "item_id": "output_text", "content_index": 0, "text": "Let me"}),
        json!({"type": "response.refusal.done", "item_id": "output_text", "content_index": 1, "refusal": "No."}),
    ];
    let (brought, end) = run(&events);
    let text = |text: &str| StreamEvent::Text(text.to_owned());
    let reasoning = |text: &str| StreamEvent::Reasoning(text.to_owned());
    let refusal = StreamEvent::Refusal("No.".to_owned());
    assert_eq!(brought, [reasoning("hm"), reasoning("m"), text("Let "), text("me"), refusal]);
    assert_eq!(end.body["output"][0]["summary"][0]["text"], "hmm");
    assert_eq!(
        end.body["output"][1]["content"],
        json!([
            {"type": "output_text", "text": "Let me", "annotations": []},
            {"type": "refusal", "refusal": "No."},
        ])
    );
}

#[test]
fn text_that_comes_whole_is_told_once() {
    let mut thought = thought();
    thought["summary"] = json!([{"type": "summary_text", "text": "hm"}]);
    let events = [done(0, &thought), done(1, &said("hi")), completed(body(json!([thought, said("hi")])))];
    let told = [StreamEvent::Reasoning("hm".to_owned()), StreamEvent::Text("hi".to_owned())];
    assert_eq!(run(&events).0, told);
    assert_eq!(run(&events[2..]).0, told);
    let delta =
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "content_index": 0, "delta": "hi"});
    let events = [added(0, &said("")), delta, done(0, &said("hi")), completed(body(json!([said("hi")])))];
    assert_eq!(run(&events).0, told[1..]);
}

#[test]
fn items_are_kept_as_they_came() {
    let mut custom =
        json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "p", "input": ""});
    let begun = custom.clone();
    custom["input"] = json!("*** Begin");
    let events = [
        done(0, &thought()),
        done(1, &said("Let me see.")),
        added(2, &begun),
        json!({"type": "response.custom_tool_call_input.delta", "item_id": "ctc_1", "output_index": 2, "delta": "*** Be"}),
        json!({"type": "response.custom_tool_call_input.done", "item_id": "ctc_1", "output_index": 2, "input": "*** Begin"}),
        done(2, &custom),
    ];
    let end = [completed(json!({"status": "completed", "output": []}))];
    let expected = [("c", "p", r#"{"input":"*** Begin"}"#)];
    for count in [5, 6] {
        let response = check(&[&events[..count], &end].concat(), &expected);
        assert_eq!(response["output"], json!([thought(), said("Let me see."), custom]));
    }
}

#[test]
fn items_stand_in_the_order_of_their_indices() {
    let (one, two) = (call("a", "f", "{}"), call("b", "g", "{}"));
    check(&[done(1, &two), done(0, &one)], &[("a", "f", "{}"), ("b", "g", "{}")]);
}

#[test]
fn an_error_is_told_and_loses_no_call() {
    let add = call("a", "add", "{}");
    let error = json!({"code": "server_error", "message": "Overloaded"});
    let text = "a response (the service reported an error: Overloaded)";
    for (event, path) in [
        (json!({"type": "error", "message": "Overloaded", "code": null}), ""),
        (json!({"type": "error", "error": error}), ""),
        (json!({"error": error}), ""),
        (
            json!({"type": "response.failed", "response": {"status": "failed", "error": error, "output": []}}),
            "response",
        ),
    ] {
        let mut stream = OpenAiResponses.accumulator();
        let failure = stream.push(&json!([done(0, &add), event])).unwrap_err();
        assert_eq!((failure.path(), failure.expected()), (path, text));
        let end = stream.finish();
        assert_eq!(calls(&end.events), OpenAiResponses.parse_calls(&end.body).unwrap());
        assert_eq!(calls(&end.events).len(), 1);
    }
    let mut stream = OpenAiResponses.accumulator();
    stream.push(&json!({"type": "error", "message": "Overloaded"})).unwrap_err();
    let refused = OpenAiResponses.parse_calls(&stream.finish().body).unwrap_err();
    assert!(refused.to_string().contains("Overloaded"));
    let (_, end) = run(&[
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
        json!({"type": "response.incomplete"}),
    ]);
    assert_eq!(end.body["status"], "incomplete");
}

#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_not_run() {
    let item = call("a", "f", "");
    let mut cut = item.clone();
    cut["status"] = json!("incomplete");
    let response = json!({"status": "incomplete", "output": [cut]});
    check(&[added(0, &item)], &[("a", "f", "{")]);
    check(&[added(0, &item), json!({"type": "response.incomplete"})], &[("a", "f", "{")]);
    check(&[json!({"type": "response.incomplete", "response": response})], &[("a", "f", "{")]);
    check(&[added(0, &item), completed(body(json!([item])))], &[("a", "f", "{}")]);
}

#[test]
fn what_is_no_event_is_refused() {
    let mut stream = OpenAiResponses.accumulator();
    let chunk = json!({"choices": [{"delta": {}}]});
    assert_eq!(stream.push(&chunk).unwrap_err().path(), "type");
    assert_eq!(stream.push(&json!("[DONE]")).unwrap_err().path(), "");
    assert_eq!(stream.push(&json!({"type": "keepalive"})).unwrap(), []);
    assert_eq!(stream.push(&json!({"type": "response.from_2027.delta", "delta": "x"})).unwrap(), []);
}

#[test]
fn a_call_without_arguments_waits_until_it_is_known_whether_it_was_cut_off() {
    let (one, two) = (call("a", "f", ""), call("b", "g", ""));
    let cut = json!({"type": "response.incomplete", "response": {"status": "incomplete", "output": []}});
    check(&[added(0, &one), done(0, &one), cut.clone()], &[("a", "f", "{")]);
    check(&[done(0, &one), done(1, &two), cut], &[("a", "f", "{}"), ("b", "g", "{")]);
    check(&[done(0, &one), completed(body(json!([one])))], &[("a", "f", "{}")]);
    check(&[done(0, &one)], &[("a", "f", "{")]);
}

#[test]
fn free_text_that_was_cut_off_is_not_run() {
    let custom = |input: &str| json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "p", "input": input});
    let delta = json!({"type": "response.custom_tool_call_input.delta", "item_id": "ctc_1", "output_index": 0, "delta": "*** Be"});
    let cut = json!({"type": "response.incomplete", "response": {"status": "incomplete", "output": []}});
    let expected = [("c", "p", r#"{"input":"*** Be"#)];
    let response = check(&[added(0, &custom("")), delta.clone()], &expected);
    check(&[added(0, &custom("")), delta, cut.clone()], &expected);
    check(&[done(0, &custom("*** Be")), cut], &expected);
    check(&[done(0, &custom("*** Be")), completed(body(json!([])))], &[("c", "p", r#"{"input":"*** Be"}"#)]);
    assert_eq!(OpenAiResponses.assistant_messages(&response).unwrap(), [custom("*** Be")]);
}
