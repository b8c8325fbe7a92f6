//! Tests of the model's messages in the next request, and of repaired histories.

use crate::ApiFormat::Anthropic;
use crate::apis::anthropic::FACTS;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::{ProviderExtras, ToolCall};
use toolkit_core::name::WireNames;
use toolkit_core::output::ToolOutput;

fn message(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

/// Checks that a response with the content `came` becomes a message of the history with the content `goes`.
#[track_caller]
fn check(came: &Value, goes: &Value) {
    let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": came,
        "stop_reason": "end_turn", "usage": {}});
    for payload in [&body, &message(came.clone()), &message(goes.clone())] {
        assert_eq!(Anthropic.assistant_messages(payload).unwrap(), [message(goes.clone())]);
    }
}

#[track_caller]
fn check_silent(came: Value) {
    assert!(Anthropic.assistant_messages(&message(came)).unwrap().is_empty());
}

#[test]
fn valid_blocks_are_unchanged() {
    let content = json!([
        {"type": "thinking", "thinking": "hm ", "signature": "EqQB"},
        {"type": "redacted_thinking", "data": "EmwK"},
        {"type": "text", "text": "Let me look.", "citations": null, "extra": 1},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "encrypted_content": "Eq"}]},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1.0}, "caller": {"type": "direct"}},
    ]);
    check(&content, &content);
    check(&json!("hi "), &json!("hi "));
}

#[test]
fn missing_fields_are_added() {
    let came = json!([
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "name": "f", "caller": null},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search"},
    ]);
    let id = Anthropic.parse_calls(&came).unwrap()[0].id.as_str().to_owned();
    check(
        &came,
        &json!([
            {"type": "thinking", "thinking": "hm", "signature": ""},
            {"type": "tool_use", "name": "f", "id": id, "input": {}},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        ]),
    );
}

#[test]
fn refused_content_is_made_acceptable() {
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    check(
        &json!([
            {"type": "text", "text": ""},
            {"type": "text", "text": " \n"},
            call("a", "functions.add", json!("{\"a\": ")),
            call("b", "/", json!([1])),
            call("c", "f", json!("{\"a\": 1}")),
            call("d", "f", json!("")),
        ]),
        &json!([
            call("a", "functions_add", json!({"invalid_arguments": "{\"a\": "})),
            call("b", "_", json!({"invalid_arguments": "[1]"})),
            call("c", "f", json!({"a": 1})),
            call("d", "f", json!({})),
        ]),
    );
}

#[test]
fn a_message_without_content_is_dropped() {
    for content in [
        json!([]),
        json!(""),
        json!([{"type": "text", "text": ""}]),
        json!([{"type": "thinking", "thinking": "I was cut", "signature": ""}]),
        json!([{"type": "text", "text": ""}, {"type": "redacted_thinking", "data": "x"}]),
    ] {
        check_silent(content);
    }
    check(
        &json!([{"type": "text", "text": "hi"}, {"type": "thinking", "thinking": "hm", "signature": "s"}]),
        &json!([{"type": "text", "text": "hi"}]),
    );
}

#[test]
fn calls_and_results_get_the_same_legal_ids() {
    let ids = ["functions.add:0", "same", "same", "ok"].into_iter().enumerate();
    let blocks = ids.map(|(at, id)| json!({"type": "tool_use", "id": id, "name": "f", "input": {"at": at}}));
    let payload = Value::from_iter(blocks);
    let calls = Anthropic.parse_calls(&payload).unwrap();
    let results: Vec<ToolResult> =
        calls.iter().map(|call| ToolResult::of(call, Ok(ToolOutput::text("1")))).collect();
    let ids = |messages: &[Value], field: &str| {
        let blocks = messages[0]["content"].as_array().unwrap().iter();
        blocks.map(|block| block[field].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let received = ids(&Anthropic.assistant_messages(&payload).unwrap(), "id");
    assert_eq!(ids(&Anthropic.encode_calls(&calls, &WireNames::default()), "id"), received);
    assert_eq!(ids(&Anthropic.encode_results(&results), "tool_use_id"), received);
    assert!(received.iter().all(|id| FACTS.ids.unwrap().rule.accepts(id)));
    assert_eq!((received[1].as_str(), received[3].as_str()), ("same", "ok"));
    assert_ne!(received[1], received[2]);
}

#[test]
fn calls_are_written_into_a_message() {
    let names = WireNames::new(FACTS.names, ["fs.read"]);
    let caller = json!({"caller": {"type": "code_execution_20250825", "tool_id": "x"}, "name": "other"});
    let extras = |api: &str| ProviderExtras::new(api, caller.as_object().unwrap().clone());
    let calls = [
        ToolCall::new("a", "fs.read", "{\"path\": \"ü\"}").with_extras(extras("anthropic")),
        ToolCall::new("b", "now", "").with_index(1).with_extras(extras("gemini")),
        ToolCall::new("c", "now", "oh"),
    ];
    assert_eq!(
        Anthropic.encode_calls(&calls, &names),
        [message(json!([
            {"type": "tool_use", "id": "a", "name": "fs_read", "input": {"path": "ü"}, "caller": caller["caller"]},
            {"type": "tool_use", "id": "b", "name": "now", "input": {}},
            {"type": "tool_use", "id": "c", "name": "now", "input": {"invalid_arguments": "oh"}},
        ]))]
    );
    assert!(Anthropic.encode_calls(&[], &names).is_empty());
}

fn uses(ids: &[&str]) -> Value {
    let blocks = ids.iter().map(|id| json!({"type": "tool_use", "id": id, "name": "f", "input": {}}));
    message(blocks.collect())
}

fn answer(id: &str, text: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": text})
}

const UNANSWERED: &str = "[No output available yet]";

#[track_caller]
fn repair(history: Value, repaired: Value) {
    let repair = |history: &Value| json!(Anthropic.repair_history(history.as_array().unwrap().clone()));
    assert_eq!(repair(&history), repaired);
    assert_eq!(repair(&repaired), repaired, "what is repaired stays");
}

#[test]
fn thinking_at_the_end_of_a_turn_is_removed() {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let redacted = json!({"type": "redacted_thinking", "data": "d"});
    let text = json!({"type": "text", "text": "x"});
    let go = json!({"role": "user", "content": "go"});
    repair(json!([go, message(json!([thinking])), go]), json!([go, go]));
    repair(json!([go, message(json!([text, thinking, redacted]))]), json!([go, message(json!([text]))]));
    // The service reads adjacent messages of the model as one.
    let whole = json!([go, message(json!([thinking])), message(json!([text])), go]);
    repair(whole.clone(), whole);
    repair(json!([go, message(json!([thinking])), message(json!([thinking])), go]), json!([go, go]));
}

#[test]
fn a_valid_history_is_unchanged() {
    let text = json!({"type": "text", "text": "and?"});
    let history = json!([
        {"role": "user", "content": "go"},
        uses(&["a", "b"]),
        user(json!([answer("b", "2"), answer("a", "1"), text])),
        message(json!("done")),
        user(json!([])),
        uses(&["c"]),
        user(json!([answer("c", "3")])),
        {"role": "user", "content": "more"},
        uses(&["d", "e"]),
        user(json!([answer("e", "4")])),
        user(json!([answer("d", "5"), text])),
        {"role": "system", "content": "note"},
        "not a message",
    ]);
    repair(history.clone(), history);
}

#[test]
fn calls_without_a_result_get_an_error_result() {
    let missing = answer("a", UNANSWERED);
    repair(json!([uses(&["a"])]), json!([uses(&["a"]), user(json!([missing]))]));
    repair(
        json!([uses(&["a"]), user(json!("go on"))]),
        json!([uses(&["a"]), user(json!([missing, {"type": "text", "text": "go on"}]))]),
    );
    repair(json!([uses(&["a"]), user(json!(""))]), json!([uses(&["a"]), user(json!([missing]))]));
    repair(
        json!([uses(&["a", "b"]), user(json!([answer("b", "2")])), message(json!("hm"))]),
        json!([uses(&["a", "b"]), user(json!([missing, answer("b", "2")])), message(json!("hm"))]),
    );
    let of_the_model = message(json!([answer("a", "not from the user")]));
    repair(json!([uses(&["a"]), of_the_model]), json!([uses(&["a"]), user(json!([missing])), of_the_model]));
    repair(
        json!([uses(&["a"]), message(json!("hm"))]),
        json!([uses(&["a"]), user(json!([missing])), message(json!("hm"))]),
    );
}

#[test]
fn results_without_a_call_are_removed() {
    let text = json!({"type": "text", "text": "t"});
    repair(json!([user(json!([answer("z", "x"), text]))]), json!([user(json!([text]))]));
    repair(json!([user(json!([answer("z", "x")]))]), json!([]));
    repair(
        json!([
            uses(&["a"]),
            user(json!([answer("a", "1"), answer("a", "2"), answer("z", "x"), {"type": "tool_result"}]))
        ]),
        json!([uses(&["a"]), user(json!([answer("a", "1")]))]),
    );
}

#[test]
fn misplaced_results_are_moved() {
    let text = json!({"type": "text", "text": "wait"});
    let right = json!([uses(&["a"]), user(json!([answer("a", "1"), text]))]);
    repair(json!([uses(&["a"]), user(json!([text, answer("a", "1")]))]), right.clone());
    repair(json!([uses(&["a"]), user(json!("wait")), user(json!([answer("a", "1")]))]), right);
    repair(
        json!([
            uses(&["a"]),
            user(json!("wait")),
            message(json!("ok")),
            user(json!([answer("a", "1"), text]))
        ]),
        json!([
            uses(&["a"]),
            user(json!([answer("a", "1"), text])),
            message(json!("ok")),
            user(json!([text]))
        ]),
    );
}

#[test]
fn a_result_answers_the_latest_call_with_its_id_and_gets_the_new_id_of_this_call() {
    let new = FACTS.ids.unwrap().rule.hashed("a", 1);
    repair(
        json!([uses(&["a"]), uses(&["a"]), user(json!([answer("a", "2")]))]),
        json!([
            uses(&["a"]),
            user(json!([answer("a", UNANSWERED)])),
            uses(&[&new]),
            user(json!([answer(&new, "2")]))
        ]),
    );
}
