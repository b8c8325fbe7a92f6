//! Tests of parsing the calls in payloads.

use crate::ApiFormat::Anthropic;
use serde_json::{Value, json};

fn body(content: Value) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

/// Checks the id, the name and the arguments of each call in `payload`.
#[track_caller]
fn check(payload: &Value, calls: &[(&str, &str, &str)]) {
    let parsed = Anthropic.parse_calls(payload).unwrap();
    let parsed: Vec<_> =
        parsed.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(parsed, calls);
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    for error in
        [Anthropic.parse_calls(payload).unwrap_err(), Anthropic.assistant_messages(payload).unwrap_err()]
    {
        assert_eq!((error.path(), error.expected()), (path, expected));
    }
}

#[test]
fn calls_are_parsed_from_a_body_a_message_a_list_or_a_block() {
    let add = call("toolu_1", "add", json!({"a": 1}));
    let expected = [("toolu_1", "add", r#"{"a":1}"#)];
    check(&body(json!([{"type": "text", "text": "hm"}, add])), &expected);
    check(&json!({"role": "assistant", "content": [add]}), &expected);
    check(&json!({"content": [add]}), &expected);
    check(&json!([{"type": "thinking", "thinking": "", "signature": "s"}, add]), &expected);
    check(&add, &expected);
}

#[test]
fn a_response_may_have_no_calls() {
    check(&body(json!([])), &[]);
    check(&body(json!([{"type": "text", "text": "hi"}])), &[]);
    check(&json!({"role": "assistant", "content": "hi", "tool_calls": []}), &[]);
    check(&json!({"role": "assistant", "content": [{"type": "compaction", "content": "so far"}]}), &[]);
    check(&json!([]), &[]);
}

#[test]
fn calls_that_the_service_runs_are_left_out() {
    check(
        &body(json!([
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "echo", "server_name": "x", "input": {}},
            call("toolu_1", "add", json!({})),
        ])),
        &[("toolu_1", "add", "{}")],
    );
}

#[test]
fn arguments_are_the_json_text_of_the_input() {
    for (input, text) in [
        (json!({"b": "é", "a": [1, 2.0]}), r#"{"b":"é","a":[1,2.0]}"#),
        (json!({}), "{}"),
        (json!(null), ""),
        (json!(" {\"a\": 1.0}"), " {\"a\": 1.0}"),
        (json!("{\"a\": \"b"), "{\"a\": \"b"),
        (json!([1]), "[1]"),
        (json!(5), "5"),
    ] {
        check(&call("c", "f", input), &[("c", "f", text)]);
    }
    check(&json!({"type": "tool_use", "id": "c", "name": "f"}), &[("c", "f", "")]);
}

#[test]
fn ids_are_kept_and_missing_ids_are_generated() {
    let content = json!([
        call("call.0", "a", json!({})),
        {"type": "tool_use", "name": "b", "input": {}},
        call("", "c", json!({})),
        call("same", "d", json!({})),
        call("same", "e", json!({})),
        {"type": "tool_use", "id": 7, "name": "f", "input": {}},
    ]);
    let ids = |payload: &Value| {
        let calls = Anthropic.parse_calls(payload).unwrap();
        calls.iter().map(|call| call.id.as_str().to_owned()).collect::<Vec<_>>()
    };
    let parsed = ids(&content);
    assert_eq!([0, 3, 4, 5].map(|index| parsed[index].as_str()), ["call.0", "same", "same", "7"]);
    assert!(parsed[1].starts_with("call_") && parsed[2].starts_with("call_") && parsed[1] != parsed[2]);
    assert_eq!(ids(&body(content)), parsed);
}

#[test]
fn fields_that_the_service_expects_back_are_kept() {
    let caller = json!({"type": "code_execution_20250825", "tool_id": "srvtoolu_1"});
    let mut block = call("c", "f", json!({}));
    block["caller"] = caller.clone();
    block["toolset_name"] = Value::Null;
    let calls = Anthropic.parse_calls(&block).unwrap();
    assert_eq!(calls[0].extras.get("anthropic", "caller"), Some(&caller));
    assert_eq!(calls[0].extras.of("anthropic").unwrap().len(), 1);
    assert!(Anthropic.parse_calls(&call("c", "f", json!({}))).unwrap()[0].extras.is_empty());
}

#[test]
fn a_call_without_a_name_is_no_call() {
    let broken = [
        json!(null),
        json!(42),
        json!({}),
        json!({"id": "x"}),
        json!({"type": "tool_use"}),
        json!({"type": "tool_use", "name": 1, "input": {}}),
        json!({"type": null, "input": {}}),
    ];
    for item in broken {
        let mut content: Vec<Value> =
            (0..10).map(|number| call(&format!("c{number}"), "add", json!({}))).collect();
        content.insert(5, item.clone());
        for payload in [body(json!(content)), json!(content)] {
            let parsed = Anthropic.parse_calls(&payload).unwrap();
            assert!(parsed.len() == 10 && parsed.iter().all(|call| call.name == "add"), "{item}");
        }
    }
}

#[test]
fn other_payloads_are_refused_with_a_path() {
    let blocks = "the text or the content blocks of a message";
    for payload in [
        json!({}),
        json!({"role": "assistant", "content": null}),
        json!({"content": {}}),
        json!({"choices": [{"message": {"role": "assistant", "content": "hi"}}]}),
        json!({"object": "response", "output": []}),
        json!({"candidates": [{"content": {"role": "model", "parts": []}}]}),
        json!({"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"}),
        json!({"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}),
    ] {
        refuse(&payload, "content", blocks);
    }
    for payload in [json!(null), json!(1), json!("content")] {
        refuse(&payload, "", "a response, a message or a content block");
    }
    let kind = "the type of a content block";
    refuse(&json!([{"type": "function"}]), "[0].type", kind);
    refuse(&json!({"role": "assistant", "content": [{"type": "output_text"}]}), "content[0].type", kind);
    refuse(&json!({"role": "user", "content": ""}), "role", "`assistant`, which marks messages of the model");
    let chat = json!({"role": "assistant", "content": "hm", "tool_calls": [{"id": "c"}]});
    refuse(&chat, "tool_calls", "no such field, which messages of other APIs have");
}

#[test]
fn an_error_body_gives_the_message_of_the_service() {
    let error = json!({"type": "overloaded_error", "message": "Overloaded"});
    for payload in [
        json!({"type": "error", "error": error, "request_id": "req_1"}),
        json!({"error": error}),
        json!({"error": "Overloaded"}),
        json!({"type": "error", "message": "Overloaded"}),
    ] {
        let expected = "a message of the model (the service reported an error: Overloaded)";
        refuse(&payload, "content", expected);
    }
}

/// A call that was cut off before its first argument is not a call without arguments.
#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_not_run() {
    for reason in ["max_tokens", "model_context_window_exceeded", "refusal"] {
        for input in [json!({}), json!(""), Value::Null] {
            let mut cut = body(json!([call("a", "f", json!({})), call("b", "g", input)]));
            cut["stop_reason"] = reason.into();
            check(&cut, &[("a", "f", "{}"), ("b", "g", "{")]);
            let history = &Anthropic.assistant_messages(&cut).unwrap()[0]["content"];
            assert_eq!(history[0]["input"], json!({}));
            assert_eq!(history[1]["input"], json!({"invalid_arguments": "{"}));
        }
        let mut went_on = body(json!([call("a", "f", json!({})), {"type": "text", "text": "and"}]));
        went_on["stop_reason"] = reason.into();
        check(&went_on, &[("a", "f", "{}")]);
    }
    check(&body(json!([call("a", "f", json!({}))])), &[("a", "f", "{}")]);
}
