//! Tests of the model's messages in the next request.

use crate::ApiFormat::OpenAiChat;
use crate::apis::openai_chat::FACTS;
use serde_json::{Map, Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::{ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;

/// Checks that the message `came` in a response is written into the history as `goes`.
#[track_caller]
fn check(came: &Value, goes: &Value) {
    let body = json!({"choices": [{"index": 0, "message": came}]});
    for payload in [&body, came, goes] {
        let history = OpenAiChat.assistant_messages(payload).unwrap();
        assert_eq!(history.as_slice(), std::slice::from_ref(goes));
    }
}

fn one_call(function: &Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": function},
    ]})
}

#[test]
fn valid_messages_are_unchanged() {
    let message = json!({
        "role": "assistant", "content": "Let me look.", "refusal": null, "annotations": [], "reasoning_content": "hm",
        "tool_calls": [
            {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": " {\"a\": 1.0}"}, "extra": 1},
            {"id": "b", "type": "custom", "custom": {"name": "apply_patch", "input": "*** Begin"}},
        ],
    });
    check(&message, &message);
}

#[test]
fn missing_fields_are_added() {
    check(
        &json!({"content": "", "tool_calls": [{"function": {"name": "f"}}, {"id": "", "function": {"name": "g", "arguments": {"a": 1}}}]}),
        &json!({"content": "", "role": "assistant", "tool_calls": [
            {"id": "call_bb7bbd8d_0", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": "call_bb7bbd8d_1", "type": "function", "function": {"name": "g", "arguments": "{\"a\":1}"}},
        ]}),
    );
}

#[test]
fn refused_content_is_made_acceptable() {
    check(
        &one_call(&json!({"name": "functions.add", "arguments": "{\"a\": "})),
        &one_call(&json!({"name": "functions_add", "arguments": "{\"invalid_arguments\":\"{\\\"a\\\": \"}"})),
    );
    check(
        &one_call(&json!({"name": "/", "arguments": [1]})),
        &one_call(&json!({"name": "_", "arguments": "{\"invalid_arguments\":\"[1]\"}"})),
    );
}

#[test]
fn an_older_function_call_becomes_a_tool_call() {
    check(
        &json!({"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}}),
        &json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_667f5542_0", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        ]}),
    );
}

#[test]
fn messages_without_calls_keep_their_content() {
    let hi = json!({"role": "assistant", "content": "hi"});
    check(&json!({"role": "assistant", "content": "hi", "tool_calls": [], "function_call": null}), &hi);
    check(&json!({"role": "assistant", "content": "hi", "tool_calls": null}), &hi);
    check(&json!({"role": "assistant", "content": null}), &json!({"role": "assistant", "content": ""}));
    let refusal = json!({"role": "assistant", "content": null, "refusal": "No."});
    check(&refusal, &refusal);
}

#[test]
fn choices_without_a_message_are_skipped() {
    let choices =
        json!({"choices": [{"finish_reason": "error"}, {"message": {"role": "assistant", "content": "hi"}}]});
    assert_eq!(
        OpenAiChat.assistant_messages(&choices).unwrap(),
        [json!({"role": "assistant", "content": "hi"})]
    );
    assert!(OpenAiChat.assistant_messages(&json!([])).unwrap().is_empty());
}

#[test]
fn calls_without_a_message_get_one() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let message = one_call(&call["function"]);
    for payload in [json!([call]), call] {
        let history = OpenAiChat.assistant_messages(&payload).unwrap();
        assert_eq!(history.as_slice(), std::slice::from_ref(&message));
    }
}

#[test]
fn calls_are_written_into_a_message() {
    let names = WireNames::new(FACTS.names, ["fs.read"]);
    let calls =
        [ToolCall::new("a", "fs.read", "{\"path\": \"ü\"}"), ToolCall::new("b", "now", "").with_index(1)];
    assert_eq!(
        OpenAiChat.encode_calls(&calls, &names)[0],
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "fs_read", "arguments": "{\"path\": \"ü\"}"}},
            {"id": "b", "type": "function", "function": {"name": "now", "arguments": "{}"}},
        ]})
    );
    assert_eq!(OpenAiChat.encode_calls(&[], &names)[0], json!({"role": "assistant", "content": ""}));
}

#[test]
fn unknown_fields_of_a_call_are_sent_back() {
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}", "strict": true},
            "extra_content": {"google": {"thought_signature": "sig"}}},
        {"id": "b", "type": "custom", "custom": {"name": "apply_patch", "input": "*** \"Begin\""}},
    ]});
    let calls = OpenAiChat.parse_calls(&message).unwrap();
    assert_eq!(OpenAiChat.encode_calls(&calls, &WireNames::default()), [message]);
    let answer = ToolResult::of(&calls[1], Ok("done".into()));
    assert_eq!(
        OpenAiChat.encode_results(&[answer]),
        [json!({"role": "tool", "tool_call_id": "b", "content": "done"})]
    );
    let foreign =
        calls[0].clone().with_extras(ProviderExtras::new("gemini", Map::from_iter([("x".into(), json!(1))])));
    let plain = one_call(&json!({"name": "f", "arguments": "{}"}));
    assert_eq!(OpenAiChat.encode_calls(&[foreign], &WireNames::default()), [plain]);
}

#[test]
fn arguments_other_than_the_input_are_written_as_json() {
    let custom = ProviderExtras::new("openai_chat", Map::from_iter([("type".into(), json!("custom"))]));
    let call = ToolCall::new("a", "f", r#"{"input": "x", "y": 2}"#).with_extras(custom);
    let message = &OpenAiChat.encode_calls(&[call], &WireNames::default())[0];
    assert_eq!(message["tool_calls"][0]["custom"]["input"], r#"{"input": "x", "y": 2}"#);
}
