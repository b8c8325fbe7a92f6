//! Tests of the model's messages in the next request.

use crate::ApiFormat::Gemini;
use crate::apis::gemini::FACTS;
use serde_json::{Value, json};
use toolkit_core::call::{ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;

/// Checks that the message `came` in a response is written into the history as `goes`.
#[track_caller]
fn check(came: &Value, goes: &Value) {
    let body = json!({"candidates": [{"content": came}]});
    for payload in [&body, came, goes] {
        let history = Gemini.assistant_messages(payload).unwrap();
        assert_eq!(history.as_slice(), std::slice::from_ref(goes));
    }
}

fn content(parts: Value) -> Value {
    json!({"role": "model", "parts": parts})
}

#[test]
fn valid_contents_are_unchanged() {
    let came = json!({"role": "model", "extra": 1, "parts": [
        {"text": "I should look.", "thought": true},
        {"text": "Let me look."},
        {"functionCall": {"id": "x1", "name": "f", "args": {"a": 1.0}, "new": true}, "thoughtSignature": "CpcB"},
        {"function_call": {"name": "g", "args": {}}, "thought_signature": "Cp"},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"text": "", "thoughtSignature": "Cq"},
    ]});
    check(&came, &came);
}

#[test]
fn missing_fields_are_added() {
    check(
        &json!({"parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "g", "args": null}}]}),
        &content(
            json!([{"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "g", "args": {}}}]),
        ),
    );
}

#[test]
fn refused_content_is_made_acceptable() {
    check(
        &content(json!([
            {"functionCall": {"name": "a b", "args": "{\"x\": "}},
            {"functionCall": {"name": "1st", "args": [1]}},
            {"functionCall": {"name": "/"}},
            {"functionCall": 5},
            {"text": ""}, {}, null, {"text": "hi"}, {"text": "", "thought": true},
        ])),
        &content(json!([
            {"functionCall": {"name": "a_b", "args": {"invalid_arguments": "{\"x\": "}}},
            {"functionCall": {"name": "_1st", "args": {"invalid_arguments": "[1]"}}},
            {"functionCall": {"name": "_", "args": {}}},
            {"text": "hi"},
        ])),
    );
    check(
        &content(
            json!([{"functionCall": {"name": "f", "args": {}, "willContinue": false, "partial_args": []}}]),
        ),
        &content(json!([{"functionCall": {"name": "f", "args": {}}}])),
    );
    for empty in [json!({"role": "model"}), content(json!([])), content(json!([{"text": ""}]))] {
        assert!(Gemini.assistant_messages(&empty).unwrap().is_empty());
    }
}

#[test]
fn generated_ids_are_not_sent() {
    let came = content(json!([{"functionCall": {"name": "f", "args": {}}}]));
    let calls = Gemini.parse_calls(&came).unwrap();
    let names = WireNames::default();
    assert_eq!(Gemini.encode_calls(&calls, &names).as_slice(), std::slice::from_ref(&came));
    let with_id = content(json!([{"functionCall": {"id": calls[0].id.as_str(), "name": "f", "args": {}}}]));
    check(&with_id, &came);
}

#[test]
fn calls_without_a_content_get_one() {
    let part = json!({"functionCall": {"id": "a", "name": "f", "args": {}}});
    for payload in [json!([part]), part.clone()] {
        assert_eq!(Gemini.assistant_messages(&payload).unwrap(), [content(json!([part]))]);
    }
}

#[test]
fn calls_are_written_into_a_content() {
    let names = WireNames::new(FACTS.names, ["files/read"]);
    let signature = |value: &str| {
        let fields = json!({"thoughtSignature": value}).as_object().cloned().unwrap_or_default();
        ProviderExtras::new("gemini", fields)
    };
    let foreign = ProviderExtras::new("anthropic", signature("x").of("gemini").cloned().unwrap_or_default());
    let calls = [
        ToolCall::new("bad id/with:chars", "files/read", "{\"path\": \"ü\"}").with_extras(signature("CpcB")),
        ToolCall::new("", "now", "").with_extras(foreign),
        ToolCall::new("call_1", "f", "{\"a\": "),
    ];
    assert_eq!(
        Gemini.encode_calls(&calls, &names),
        [content(json!([
            {"functionCall": {"id": "bad id/with:chars", "name": "files_read", "args": {"path": "ü"}}, "thoughtSignature": "CpcB"},
            {"functionCall": {"name": "now", "args": {}}},
            {"functionCall": {"id": "call_1", "name": "f", "args": {"invalid_arguments": "{\"a\": "}}},
        ]))]
    );
    assert!(Gemini.encode_calls(&[], &names).is_empty());
}
