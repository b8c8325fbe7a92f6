//! Tests of parsing the calls in payloads.

use crate::ApiFormat::Gemini;
use crate::ids;
use serde_json::{Value, json};

fn body(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}]})
}

fn call(id: &str, name: &str, args: Value) -> Value {
    json!({"functionCall": {"id": id, "name": name, "args": args}})
}

/// Checks the id, the name and the arguments of each call in `payload`.
#[track_caller]
fn check(payload: &Value, calls: &[(&str, &str, &str)]) {
    let parsed = Gemini.parse_calls(payload).unwrap();
    let parsed: Vec<_> =
        parsed.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(parsed, calls);
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    for error in [Gemini.parse_calls(payload).unwrap_err(), Gemini.assistant_messages(payload).unwrap_err()] {
        assert_eq!((error.path(), error.expected()), (path, expected), "{payload}");
    }
}

#[test]
fn calls_are_parsed_from_a_body_a_candidate_a_content_or_parts() {
    let add = call("a", "add", json!({"x": 1}));
    let expected = [("a", "add", r#"{"x":1}"#)];
    let whole = body(json!([{"text": "Let me see."}, add]));
    check(&whole, &expected);
    check(&whole["candidates"][0], &expected);
    check(&json!({"content": {"parts": [add]}}), &expected);
    check(&json!({"role": "model", "parts": [add]}), &expected);
    check(&json!({"parts": [add]}), &expected);
    check(&json!([{"text": "Let me see."}, add]), &expected);
    check(&add, &expected);
    check(&json!({"function_call": {"id": "a", "name": "add", "args": {"x": 1}}}), &expected);
}

#[test]
fn a_list_of_bodies_is_parsed_as_a_stream() {
    let bodies = json!([
        {"candidates": [{"content": {"role": "model", "parts": [call("a", "add", json!({}))]}}]},
        {"candidates": [{"content": {"role": "model", "parts": [call("b", "sub", json!({}))]}, "finishReason": "STOP"}]},
        {"usageMetadata": {"totalTokenCount": 1}},
    ]);
    check(&bodies, &[("a", "add", "{}"), ("b", "sub", "{}")]);
    let messages = Gemini.assistant_messages(&bodies).unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["parts"].as_array().unwrap().len(), 2);
    let failed = json!([bodies[0], {"error": {"code": 503, "message": "overloaded"}}]);
    let expected = "a content of the model (the service reported an error: overloaded)";
    refuse(&failed, "candidates[0].content", expected);
}

#[test]
fn a_response_may_have_no_calls() {
    check(&body(json!([{"text": "hi"}])), &[]);
    check(&body(json!([{"text": "hi", "functionCall": null}])), &[]);
    for candidate in [
        json!({"finishReason": "STOP"}),
        json!({"finishReason": "MAX_TOKENS", "content": {"role": "model"}}),
        json!({"content": {"parts": null}}),
        json!({"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "SAFETY"}),
    ] {
        check(&json!({"candidates": [candidate]}), &[]);
        check(&candidate, &[]);
    }
    check(&json!({"role": "model"}), &[]);
    check(&json!([]), &[]);
    check(&json!([{"text": "hi"}]), &[]);
}

#[test]
fn candidates_are_read_in_order() {
    let one = |id: &str| json!({"content": {"parts": [call(id, "add", json!({}))]}});
    let payload = json!({"candidates": [one("b"), {"finishReason": "SAFETY"}, one("a")]});
    check(&payload, &[("b", "add", "{}"), ("a", "add", "{}")]);
}

#[test]
fn arguments_are_the_json_text_of_the_value() {
    let with = |args: Value| json!([{"functionCall": {"id": "c", "name": "f", "args": args}}]);
    check(&with(json!({"b": "é", "a": [1, 2.0]})), &[("c", "f", r#"{"b":"é","a":[1,2.0]}"#)]);
    check(&with(json!("{\"a\": 1}")), &[("c", "f", "{\"a\": 1}")]);
    check(&with(json!([1])), &[("c", "f", "[1]")]);
    check(&with(Value::Null), &[("c", "f", "")]);
    let piece = json!({"id": "c", "name": "f", "partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}]});
    check(&json!({"functionCall": piece}), &[("c", "f", "{")]);
    check(&json!({"functionCall": {"id": "c", "name": "f", "willContinue": true}}), &[("c", "f", "{")]);
    check(&json!([{"functionCall": {"id": "c", "name": "f"}}]), &[("c", "f", "")]);
}

#[test]
fn missing_ids_are_generated() {
    let parts = json!([
        {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}},
        call("given", "weather", json!({})),
        {"functionCall": {"id": "", "name": "weather", "args": {"city": "Rome"}}},
        {"functionCall": {"id": 7, "name": "weather"}},
    ]);
    let calls = Gemini.parse_calls(&body(parts.clone())).unwrap();
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert!(ids::is_generated(ids[0]) && ids::is_generated(ids[2]));
    assert_eq!([ids[1], ids[3]], ["given", "7"]);
    assert_ne!(ids[0], ids[2]);
    for payload in [body(parts.clone()), json!({"role": "model", "parts": parts}), parts.clone()] {
        assert_eq!(Gemini.parse_calls(&payload).unwrap(), calls);
    }
}

#[test]
fn fields_beside_a_call_are_kept() {
    for part in [
        json!({"functionCall": {"id": "a", "name": "f"}, "thoughtSignature": "CpcB", "partMetadata": {"n": 1}}),
        json!({"thought_signature": "CpcB", "function_call": {"id": "a", "name": "f"}, "part_metadata": {"n": 1}}),
    ] {
        let calls = Gemini.parse_calls(&body(json!([part]))).unwrap();
        assert_eq!(calls[0].extras.get("gemini", "thoughtSignature"), Some(&json!("CpcB")));
        assert_eq!(calls[0].extras.get("gemini", "partMetadata"), Some(&json!({"n": 1})));
        assert_eq!(calls[0].extras.get("gemini", "functionCall"), None);
    }
    assert!(Gemini.parse_calls(&call("a", "f", json!({}))).unwrap()[0].extras.is_empty());
}

#[test]
fn a_call_without_a_name_is_no_call() {
    for broken in [json!(42), json!({}), json!({"name": 1}), json!([]), json!({"id": "x"})] {
        let mut parts: Vec<Value> = (0..10).map(|n| call(&format!("c{n}"), "add", json!({}))).collect();
        parts.insert(5, json!({"functionCall": broken}));
        parts.insert(5, Value::Null);
        for payload in [body(json!(parts)), json!(parts)] {
            let parsed = Gemini.parse_calls(&payload).unwrap();
            assert!(parsed.len() == 10 && parsed.iter().all(|call| call.name == "add"), "{broken}");
        }
    }
}

#[test]
fn other_payloads_are_refused_with_a_path() {
    let place = "candidates[0].content";
    for payload in [
        json!({}),
        json!({"candidates": []}),
        json!({"candidates": null}),
        json!({"candidates": [{"index": 0}]}),
        json!({"candidates": [1]}),
        json!({"choices": [{"message": {"role": "assistant", "content": "hi"}}]}),
        json!({"role": "assistant", "content": null, "tool_calls": []}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "tool_use"}]}),
        json!({"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"}),
        json!({"text": "hi"}),
    ] {
        refuse(&payload, place, "a content of the model");
    }
    for payload in [json!(null), json!(1), json!("candidates")] {
        refuse(&payload, "", "a response, a content or a part");
    }
    refuse(&json!([{"type": "text", "text": "hi"}]), "[0]", "a part with `functionCall`");
    refuse(&json!({"parts": {}}), "parts", "a list of parts");
    refuse(
        &json!({"candidates": [{"content": {"parts": 1}}]}),
        "candidates[0].content.parts",
        "a list of parts",
    );
    let answer = json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]});
    refuse(&answer, "role", "`model`, which marks contents of the model");
}

#[test]
fn a_failed_candidate_gives_the_reason_of_the_service() {
    for (payload, reason) in [
        (
            json!({"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}}),
            "the service reported an error: quota",
        ),
        (json!({"error": "quota"}), "the service reported an error: quota"),
        (json!({"promptFeedback": {"blockReason": "SAFETY"}}), "the prompt was blocked: SAFETY"),
        (
            json!({"candidates": [], "prompt_feedback": {"block_reason": "OTHER", "block_reason_message": "no"}}),
            "the prompt was blocked: OTHER: no",
        ),
        (
            json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "call:f(a="}]}),
            "the model stopped: MALFORMED_FUNCTION_CALL: call:f(a=",
        ),
        (
            json!({"candidates": [{"content": {"parts": [{"text": "hm"}]}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}),
            "the model stopped: MALFORMED_FUNCTION_CALL",
        ),
        (json!({"candidates": [{"finishReason": "SAFETY"}]}), "the model stopped: SAFETY"),
    ] {
        refuse(&payload, "candidates[0].content", &format!("a content of the model ({reason})"));
    }
    let despite = json!({"candidates": [
        {"content": {"parts": [call("a", "f", json!({}))]}, "finishReason": "MALFORMED_FUNCTION_CALL"},
    ]});
    check(&despite, &[("a", "f", "{")]);
}

/// A call that was cut off before its first argument is not a call without arguments.
#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_not_run() {
    let bare = json!({"functionCall": {"id": "b", "name": "g"}});
    for last in [call("b", "g", json!({})), call("b", "g", json!("")), bare] {
        for parts in
            [json!([call("a", "f", json!({})), last]), json!([call("a", "f", json!({})), last, {"text": ""}])]
        {
            let mut cut = body(parts);
            cut["candidates"][0]["finishReason"] = "MAX_TOKENS".into();
            for payload in [&cut, &cut["candidates"][0]] {
                check(payload, &[("a", "f", "{}"), ("b", "g", "{")]);
                let history = &Gemini.assistant_messages(payload).unwrap()[0]["parts"];
                assert_eq!(history[0]["functionCall"]["args"], json!({}));
                assert_eq!(history[1]["functionCall"]["args"], json!({"invalid_arguments": "{"}));
            }
        }
    }
    check(&body(json!([call("a", "f", json!({}))])), &[("a", "f", "{}")]);
}
