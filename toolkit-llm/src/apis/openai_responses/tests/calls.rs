//! Tests of parsing the calls in payloads.

use super::{body, call, said, thought};
use crate::ApiFormat::OpenAiResponses;
use serde_json::{Value, json};

/// Checks the id, the name and the arguments of each call in `payload`.
#[track_caller]
fn check(payload: &Value, calls: &[(&str, &str, &str)]) {
    let parsed = OpenAiResponses.parse_calls(payload).unwrap();
    let parsed: Vec<_> =
        parsed.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(parsed, calls);
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    let calls = OpenAiResponses.parse_calls(payload);
    let messages = OpenAiResponses.assistant_messages(payload);
    for error in [calls.unwrap_err(), messages.unwrap_err()] {
        assert_eq!((error.path(), error.expected()), (path, expected));
    }
}

#[test]
fn calls_are_parsed_from_a_body_a_list_or_an_item() {
    let add = call("call_1", "add", "{}");
    let expected = [("call_1", "add", "{}")];
    check(&body(json!([thought(), said("Let me see."), add])), &expected);
    check(&json!({"output": [add]}), &expected);
    check(&json!([thought(), add]), &expected);
    check(&add, &expected);
}

#[test]
fn a_response_may_have_no_calls() {
    check(&body(json!([])), &[]);
    check(&body(json!([said("hi"), {"type": "web_search_call", "id": "ws_1"}, {"type": "from 2027"}])), &[]);
    check(&said("hi"), &[]);
    check(&json!([]), &[]);
}

#[test]
fn arguments_keep_their_text() {
    let with = |arguments: Value| json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments});
    for text in ["{\"a\": 1}", " {\"a\":1.0} ", "", "[1,2]", "null", "{\"a\": \"b", "日本"] {
        check(&with(json!(text)), &[("c", "f", text)]);
    }
    check(&with(json!({"b": "é", "a": [1, 2.0]})), &[("c", "f", r#"{"b":"é","a":[1,2.0]}"#)]);
    check(&with(json!(5)), &[("c", "f", "5")]);
    check(&with(Value::Null), &[("c", "f", "")]);
    check(&json!({"type": "function_call", "call_id": "c", "name": "f"}), &[("c", "f", "")]);
}

#[test]
fn free_text_becomes_the_argument_input() {
    let custom =
        json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** \"Begin\""});
    check(&custom, &[("c", "apply_patch", r#"{"input":"*** \"Begin\""}"#)]);
}

#[test]
fn fields_that_the_service_expects_back_are_kept() {
    let mut item = call("c", "search", "{}");
    item["namespace"] = json!("crm");
    item["caller"] = json!({"type": "program", "caller_id": "prog_1"});
    let parsed = OpenAiResponses.parse_calls(&item).unwrap();
    assert_eq!(parsed[0].extras.get("openai_responses", "namespace"), Some(&json!("crm")));
    assert_eq!(parsed[0].extras.get("openai_responses", "caller").unwrap()["caller_id"], "prog_1");
    item["namespace"] = Value::Null;
    item["caller"] = Value::Null;
    assert!(OpenAiResponses.parse_calls(&item).unwrap()[0].extras.is_empty());
}

#[test]
fn ids_are_kept_and_missing_ids_are_generated() {
    let calls = json!([
        call("call_0", "a", ""),
        {"type": "function_call", "name": "b"},
        {"type": "function_call", "id": "fc_2", "call_id": null, "name": "c"},
        {"type": "function_call", "id": "", "call_id": "", "name": "d"},
        call("same", "e", ""),
        call("same", "f", ""),
        {"type": "function_call", "call_id": 7, "name": "g"},
    ]);
    let parsed = OpenAiResponses.parse_calls(&body(calls.clone())).unwrap();
    let ids: Vec<&str> = parsed.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_0", ids[1], "call_2", ids[3], "same", "same", "7"]);
    assert!(ids[1] != ids[3] && ids[1].starts_with("call_") && ids[3].starts_with("call_"));
    assert_eq!(OpenAiResponses.parse_calls(&calls).unwrap(), parsed);
}

#[test]
fn a_call_without_a_name_is_no_call() {
    for item in [
        json!({"type": "function_call"}),
        json!({"type": "custom_tool_call"}),
        json!({"type": "function_call", "name": 1, "arguments": {}}),
        json!({"type": "function_call", "call_id": {}, "name": null}),
    ] {
        let mut calls: Vec<Value> = (0..10).map(|number| call(&format!("c{number}"), "add", "{}")).collect();
        calls.insert(5, item.clone());
        for payload in [body(json!(calls)), json!(calls)] {
            let parsed = OpenAiResponses.parse_calls(&payload).unwrap();
            assert!(parsed.len() == 10 && parsed.iter().all(|call| call.name == "add"), "{item}");
        }
    }
}

#[test]
fn unknown_items_do_not_hide_the_calls() {
    let add = call("c", "add", "{}");
    check(&body(json!([null, 42, {}, add, {"type": 1}])), &[("c", "add", "{}")]);
    let untyped = json!({"call_id": "d", "name": "sub", "arguments": "{}"});
    check(&body(json!([untyped, add])), &[("d", "sub", "{}"), ("c", "add", "{}")]);
    check(&json!([{"call_id": "e", "name": "f"}, {"call_id": "f", "output": "3"}]), &[("e", "f", "")]);
}

#[test]
fn other_payloads_are_refused_with_a_path() {
    for payload in [
        json!({}),
        json!({"output": null}),
        json!({"output": {"message": {"role": "assistant", "content": []}}}),
        json!({"choices": [{"message": {"role": "assistant", "content": "hi"}}]}),
        json!({"role": "assistant", "content": null, "tool_calls": []}),
        json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "tool_use", "id": "t"}]}),
        json!({"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}),
        json!({"type": "tool_use", "id": "t", "name": "add", "input": {}}),
        json!({"candidates": [{"content": {"role": "model", "parts": []}}]}),
        json!({"type": "response.output_text.delta", "delta": "an event"}),
    ] {
        refuse(&payload, "output", "a list of items");
    }
    for payload in [json!(null), json!(1), json!("output")] {
        refuse(&payload, "", "a response, an item or a list of items");
    }
    refuse(&json!([{"type": "tool_use"}]), "[0]", "an item such as `function_call`");
    refuse(&json!([null]), "[0]", "an item such as `function_call`");
    let user = json!({"type": "message", "role": "user", "content": "hi"});
    refuse(&user, "role", "`assistant`, which marks messages of the model");
}

#[test]
fn an_error_body_gives_the_message_of_the_service() {
    let error = json!({"message": "Rate limit reached", "code": "rate_limit_exceeded"});
    for payload in [
        json!({"error": error}),
        json!({"error": "Rate limit reached"}),
        json!({"object": "response", "status": "failed", "error": error, "output": []}),
        json!({"object": "error", "message": "Rate limit reached"}),
        json!({"type": "error", "message": "Rate limit reached"}),
        json!({"type": "error", "error": error}),
    ] {
        refuse(&payload, "output", "a list of items (the service reported an error: Rate limit reached)");
    }
    let late = json!({"status": "failed", "error": error, "output": [call("c", "add", "{}")]});
    check(&late, &[("c", "add", "{}")]);
}

/// A call that was cut off before its first argument is not a call without arguments.
#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_not_run() {
    let blank = |id: &str| call(id, "f", "");
    let mut cut = body(json!([blank("a"), blank("b")]));
    cut["status"] = "incomplete".into();
    check(&cut, &[("a", "f", ""), ("b", "f", "{")]);
    let history = OpenAiResponses.assistant_messages(&cut).unwrap();
    assert_eq!(history[0]["arguments"], "{}");
    assert_eq!(history[1]["arguments"], r#"{"invalid_arguments":"{"}"#);
    cut["output"] = json!([blank("a"), said("and")]);
    check(&cut, &[("a", "f", "")]);
    check(&body(json!([blank("a")])), &[("a", "f", "")]);
}
