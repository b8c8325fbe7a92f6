//! Tests of repairing histories that have calls without results, or results without calls.

use crate::ApiFormat::Gemini;
use serde_json::{Value, json};

fn user(parts: Value) -> Value {
    json!({"role": "user", "parts": parts})
}

fn model(parts: Value) -> Value {
    json!({"role": "model", "parts": parts})
}

fn call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {}}})
}

fn call_id(id: &str, name: &str) -> Value {
    json!({"functionCall": {"id": id, "name": name, "args": {}}})
}

fn answer(name: &str, output: &str) -> Value {
    json!({"functionResponse": {"name": name, "response": {"output": output}}})
}

fn answer_id(id: &str, name: &str, output: &str) -> Value {
    json!({"functionResponse": {"id": id, "name": name, "response": {"output": output}}})
}

const NONE: &str = "[No output available yet]";

#[track_caller]
fn check(history: &[Value], repaired: &[Value]) {
    assert_eq!(Gemini.repair_history(history.to_vec()), repaired);
    assert_eq!(Gemini.repair_history(repaired.to_vec()), repaired, "what is repaired stays as it is");
}

#[test]
fn valid_histories_are_unchanged() {
    let good = [
        user(json!([{"text": "hi"}])),
        model(json!([{"text": "a"}, call("f"), call("f"), call_id("x", "g")])),
        json!({"role": "function", "parts": [{"text": "also"}, answer("f", "1"), answer("f", "2"), answer_id("x", "g", "3")]}),
        user(json!([{"text": "and?"}])),
        model(json!([{"text": "bye"}])),
        json!({"role": "user"}),
    ];
    check(&good, &good);
    check(&[], &[]);
}

#[test]
fn calls_without_a_result_get_an_error_result() {
    let asked = model(json!([call("f"), call_id("x", "g")]));
    let none = user(json!([answer("f", NONE), answer_id("x", "g", NONE)]));
    check(std::slice::from_ref(&asked), &[asked.clone(), none.clone()]);
    let go_on = user(json!([{"text": "go on"}]));
    check(&[asked.clone(), go_on.clone()], &[asked.clone(), none.clone(), go_on]);
    check(&[asked.clone(), asked.clone()], &[asked.clone(), none.clone(), asked, none]);
}

#[test]
fn all_results_follow_in_the_order_of_the_calls() {
    let asked = model(json!([call_id("a", "f"), call_id("b", "f"), call("g")]));
    check(
        &[
            asked.clone(),
            user(json!([{"text": "first"}])),
            user(json!([answer("g", "3"), answer_id("b", "f", "2"), {"text": "and"}])),
        ],
        &[
            asked.clone(),
            user(json!([answer_id("a", "f", NONE), answer_id("b", "f", "2"), answer("g", "3")])),
            user(json!([{"text": "first"}])),
            user(json!([{"text": "and"}])),
        ],
    );
    check(
        &[
            asked.clone(),
            user(json!([answer_id("a", "f", "1"), {"text": "and"}])),
            user(json!([answer("g", "3")])),
        ],
        &[
            asked,
            user(
                json!([answer_id("a", "f", "1"), answer_id("b", "f", NONE), answer("g", "3"), {"text": "and"}]),
            ),
        ],
    );
}

#[test]
fn results_without_a_call_are_removed() {
    let hi = user(json!([{"text": "hi"}]));
    check(&[user(json!([answer("f", "1")])), hi.clone()], std::slice::from_ref(&hi));
    check(&[user(json!([answer("f", "1"), {"text": "hi"}]))], &[hi]);
    let asked = model(json!([call("f")]));
    check(
        &[asked.clone(), user(json!([answer("f", "1"), answer("f", "again"), answer_id("z", "z", "?")]))],
        &[asked, user(json!([answer("f", "1")]))],
    );
}
