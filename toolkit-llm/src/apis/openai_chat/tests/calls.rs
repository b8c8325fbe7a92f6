//! Tests of parsing the calls in payloads.

use crate::ApiFormat::OpenAiChat;
use serde_json::{Value, json};

fn body(message: Value) -> Value {
    json!({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
}

fn message(calls: Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

/// Checks the id, the name and the arguments of each call in `payload`.
#[track_caller]
fn check(payload: &Value, calls: &[(&str, &str, &str)]) {
    let parsed = OpenAiChat.parse_calls(payload).unwrap();
    let parsed: Vec<_> =
        parsed.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(parsed, calls);
}

#[track_caller]
fn check_one(item: &Value, id: &str, name: &str, arguments: &str) {
    check(&message(json!([item])), &[(id, name, arguments)]);
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    for error in
        [OpenAiChat.parse_calls(payload).unwrap_err(), OpenAiChat.assistant_messages(payload).unwrap_err()]
    {
        assert_eq!((error.path(), error.expected()), (path, expected));
    }
}

#[test]
fn calls_are_parsed_from_a_body_a_choice_a_message_a_list_or_a_call() {
    let add = call("call_1", "add", "{}");
    let expected = [("call_1", "add", "{}")];
    let said = message(json!([add]));
    check(&body(said.clone()), &expected);
    check(&json!({"index": 0, "message": said}), &expected);
    check(&said, &expected);
    check(&json!({"tool_calls": [add]}), &expected);
    check(&json!([add]), &expected);
    check(&add, &expected);
}

#[test]
fn a_response_may_have_no_calls() {
    for calls in [Value::Null, json!([])] {
        check(&body(message(calls)), &[]);
    }
    check(&body(json!({"role": "assistant", "content": "hi", "function_call": null})), &[]);
    check(&json!({"role": "assistant", "content": "hi", "function_call": {}}), &[]);
    check(&json!([]), &[]);
}

/// GitHub Copilot splits one answer into a choice with the text and a choice with the calls.
#[test]
fn the_calls_of_all_choices_are_read_in_order() {
    let choice = |id: &str| json!({"message": message(json!([call(id, "add", "{}")]))});
    let payload = json!({"choices": [choice("b"), {"finish_reason": "error"}, choice("a")]});
    check(&payload, &[("b", "add", "{}"), ("a", "add", "{}")]);
}

#[test]
fn arguments_keep_their_text() {
    let with = |arguments: Value| json!({"id": "c", "function": {"name": "f", "arguments": arguments}});
    for text in ["{\"a\": 1}", " {\"a\":1.0} ", "", "[1,2]", "null", "{\"a\": \"b", "日本"] {
        check_one(&with(json!(text)), "c", "f", text);
    }
    check_one(&with(json!({"b": "é", "a": [1, 2.0]})), "c", "f", r#"{"b":"é","a":[1,2.0]}"#);
    check_one(&with(json!([1])), "c", "f", "[1]");
    check_one(&with(json!(5)), "c", "f", "5");
    check_one(&with(Value::Null), "c", "f", "");
    check_one(&json!({"id": "c", "function": {"name": "f"}}), "c", "f", "");
}

#[test]
fn free_text_becomes_the_argument_input() {
    let custom =
        json!({"id": "c", "type": "custom", "custom": {"name": "apply_patch", "input": "*** \"Begin\""}});
    check_one(&custom, "c", "apply_patch", r#"{"input":"*** \"Begin\""}"#);
}

#[test]
fn the_older_function_call_is_a_call() {
    let legacy = json!({"name": "add", "arguments": "{}"});
    check(
        &body(json!({"role": "assistant", "content": null, "function_call": legacy})),
        &[("call_0cd813c7_0", "add", "{}")],
    );
    let mirrored = json!({"tool_calls": [call("a", "add", "{}")], "function_call": legacy});
    check(&mirrored, &[("a", "add", "{}")]);
    let other = json!({"tool_calls": [call("a", "sub", "{}")], "function_call": legacy});
    check(&other, &[("a", "sub", "{}"), ("call_b74a0dfc_0", "add", "{}")]);
}

#[test]
fn ids_are_kept_and_missing_ids_are_generated() {
    let calls = json!([
        call("call_0", "a", ""),
        {"function": {"name": "b"}},
        {"id": null, "function": {"name": "c"}},
        call("call_2", "d", ""),
        call("", "e", ""),
        call("same", "f", ""),
        call("same", "g", ""),
        {"id": 7, "function": {"name": "h"}},
    ]);
    let parsed = OpenAiChat.parse_calls(&message(calls)).unwrap();
    let ids: Vec<&str> = parsed.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(
        ids,
        ["call_0", "call_7b85ac60_0", "call_7b85ac60_1", "call_2", "call_7b85ac60_2", "same", "same", "7"]
    );
}

#[test]
fn an_index_is_kept() {
    let calls = json!([{"index": 3, "id": "a", "function": {"name": "f"}}, call("b", "f", "")]);
    let parsed = OpenAiChat.parse_calls(&message(calls)).unwrap();
    assert_eq!(parsed.iter().map(|call| call.index).collect::<Vec<_>>(), [Some(3), None]);
}

#[test]
fn a_call_without_a_name_is_no_call() {
    let broken = [
        json!(null),
        json!(42),
        json!({}),
        json!({"id": "x"}),
        json!({"function": null}),
        json!({"function": {"name": 1}}),
        json!({"type": "custom"}),
        json!({"custom": {}}),
    ];
    for item in broken {
        let mut calls: Vec<Value> = (0..10).map(|number| call(&format!("c{number}"), "add", "{}")).collect();
        calls.insert(5, item.clone());
        for payload in [message(json!(calls)), json!(calls)] {
            let parsed = OpenAiChat.parse_calls(&payload).unwrap();
            assert!(parsed.len() == 10 && parsed.iter().all(|call| call.name == "add"), "{item}");
        }
    }
}

#[test]
fn one_valid_choice_is_enough_to_accept_damaged_choices() {
    let good = json!({"message": message(json!([call("a", "add", "{}")])), "finish_reason": "tool_calls"});
    let broken = json!({"message": {"role": "assistant", "tool_calls": "oops"}});
    for choices in [json!([good, broken]), json!([broken, good])] {
        let payload = json!({"choices": choices});
        let parsed = OpenAiChat.parse_calls(&payload).unwrap();
        let names: Vec<&str> = parsed.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["add"]);
        let history = OpenAiChat.assistant_messages(&payload).unwrap();
        let calls: Vec<&Value> = history.iter().filter_map(|message| message.get("tool_calls")).collect();
        assert!(calls.len() == 1 && calls[0][0]["function"]["arguments"] == "{}");
    }
    let place = "choices[0].message.tool_calls";
    refuse(&json!({"choices": [broken, broken]}), place, "a list of calls");
}

/// A call that was cut off before its first argument is not a call without arguments.
#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_not_run() {
    let blank = [json!(""), json!(" "), Value::Null];
    for (reason, arguments) in
        ["length", "content_filter"].iter().flat_map(|cut| blank.iter().map(move |text| (cut, text)))
    {
        let mut last = call("b", "g", "");
        last["function"]["arguments"] = arguments.clone();
        let choice = json!({"message": message(json!([call("a", "f", ""), last])), "finish_reason": reason});
        for payload in [json!({"choices": [choice]}), choice] {
            check(&payload, &[("a", "f", ""), ("b", "g", "{")]);
            let history = &OpenAiChat.assistant_messages(&payload).unwrap()[0]["tool_calls"];
            assert_eq!(history[0]["function"]["arguments"], "{}");
            assert_eq!(history[1]["function"]["arguments"], r#"{"invalid_arguments":"{"}"#);
        }
    }
    let legacy =
        json!({"message": {"function_call": {"name": "f", "arguments": ""}}, "finish_reason": "length"});
    assert_eq!(OpenAiChat.parse_calls(&legacy).unwrap()[0].arguments.as_str(), "{");
    for reason in [json!("tool_calls"), json!("stop"), Value::Null] {
        let choice = json!({"message": message(json!([call("a", "f", "")])), "finish_reason": reason});
        check(&choice, &[("a", "f", "")]);
    }
}

#[test]
fn other_payloads_are_refused_with_a_path() {
    let place = "choices[0].message";
    for payload in [
        json!({}),
        json!({"choices": []}),
        json!({"choices": null}),
        json!({"choices": [{"delta": {"content": "a chunk of a stream"}}]}),
        json!({"object": "response", "output": []}),
        json!({"candidates": [{"content": {"role": "model", "parts": []}}]}),
        json!({"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"}),
        json!({"type": "tool_use", "id": "t", "name": "add", "input": {}}),
    ] {
        refuse(&payload, place, "a message of the model");
    }
    for payload in [json!(null), json!(1), json!("choices")] {
        refuse(&payload, "", "a response, a message or a call");
    }
    refuse(&json!([{"type": "tool_use"}]), "[0]", "a call with `function`");
    refuse(&json!({"tool_calls": {}}), "tool_calls", "a list of calls");
    refuse(&body(json!({"tool_calls": "add"})), "choices[0].message.tool_calls", "a list of calls");
    refuse(&json!({"role": "user", "content": ""}), "role", "`assistant`, which marks messages of the model");
    let anthropic = json!({"type": "message", "role": "assistant", "content": [{"type": "tool_use"}]});
    refuse(&anthropic, "type", "no such field, which messages of other APIs have");
}

#[test]
fn an_error_body_gives_the_message_of_the_service() {
    let error = json!({"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"});
    for payload in [
        json!({"error": error}),
        json!({"error": "Rate limit reached"}),
        json!({"choices": null, "error": error}),
        json!({"choices": [{"index": 0, "error": error}]}),
        json!({"error": null, "choices": [{"error": null}, {"error": error}]}),
        json!({"object": "error", "message": "Rate limit reached"}),
    ] {
        let expected = "a message of the model (the service reported an error: Rate limit reached)";
        refuse(&payload, "choices[0].message", expected);
    }
    check(&json!({"error": null, "choices": [{"message": {"content": "hi"}}]}), &[]);
}

#[test]
fn an_empty_function_call_is_no_call() {
    for empty in [json!({}), json!({"name": "", "arguments": ""}), Value::Null] {
        let message = json!({"role": "assistant", "content": "hi", "function_call": empty});
        assert!(OpenAiChat.parse_calls(&message).unwrap().is_empty(), "{message}");
        let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
        assert_eq!(OpenAiChat.parse_response(&body).unwrap().finish, crate::FinishReason::Stop);
    }
}

#[test]
fn free_text_that_was_cut_off_is_refused() {
    let custom = json!({"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** \"Be"}});
    let body = |reason: &str| json!({"choices": [{"message": {"role": "assistant", "tool_calls": [custom]}, "finish_reason": reason}]});
    let arguments = |reason| OpenAiChat.parse_calls(&body(reason)).unwrap()[0].arguments.as_str().to_owned();
    assert_eq!(arguments("tool_calls"), r#"{"input":"*** \"Be"}"#);
    assert_eq!(arguments("length"), r#"{"input":"*** \"Be"#);
    assert_eq!(OpenAiChat.assistant_messages(&body("length")).unwrap()[0]["tool_calls"], json!([custom]));
}
