//! Repairs histories, so that every call has its result directly after it.

use super::OpenAiChat;
use super::call::legacy;
use crate::call;
use crate::codec::RepairCodec;
use crate::fields::{list, text};
use crate::pairing::{Entry, Key, NO_OUTPUT};
use serde_json::{Value, json};

impl RepairCodec for OpenAiChat {
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let by_id = |id| Key::of_id(call::id(id));
        let entries = match text(message, "role") {
            "tool" => vec![Entry::Result(by_id(message.get("tool_call_id")), message)],
            "function" => vec![Entry::Result(by_name(message), message)],
            "assistant" => {
                let calls = list(message, "tool_calls").iter();
                let calls: Vec<_> = calls.map(|call| Entry::Call(by_id(call.get("id")), call)).collect();
                // If a message has `tool_calls`, the older field `function_call` only repeats one of these calls.
                let older = message.as_object().and_then(legacy).filter(|_| calls.is_empty());
                calls.into_iter().chain(older.map(|call| Entry::Call(by_name(call), call))).collect()
            }
            _ => Vec::new(),
        };
        entries.into_iter().map(|entry| (0, entry)).collect()
    }

    fn placeholder(&self, _call: &Value, key: &Key<'_>) -> Value {
        match &key.id {
            Some(id) => json!({"role": "tool", "tool_call_id": id, "content": NO_OUTPUT}),
            None => json!({"role": "function", "name": key.name, "content": NO_OUTPUT}),
        }
    }
}

/// Returns the key to pair a call and its result by name, for the older field `function_call`. A message in
/// this form has a single call, without an id.
fn by_name(named: &Value) -> Key<'_> {
    Key { id: None, name: Some(text(named, "name")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(ids: &[&str]) -> Value {
        let call =
            |id: &&str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
        json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
    }

    fn answer(id: &str, text: &str) -> Value {
        json!({"role": "tool", "tool_call_id": id, "content": text})
    }

    fn says(text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    #[track_caller]
    fn check(history: &[Value], repaired: &[Value]) {
        assert_eq!(crate::ApiFormat::OpenAiChat.repair_history(history.to_vec()), repaired);
        assert_eq!(
            crate::ApiFormat::OpenAiChat.repair_history(repaired.to_vec()),
            repaired,
            "repairing twice"
        );
    }

    #[test]
    fn valid_histories_are_unchanged() {
        for history in [
            vec![],
            vec![says("hi"), json!({"role": "assistant", "content": "hi"}), json!(1)],
            vec![asks(&["a", "b"]), answer("b", "2"), answer("a", "1"), says("and?")],
            vec![asks(&["same"]), answer("same", "1"), asks(&["same"]), answer("same", "2")],
            vec![asks(&["a", "a"]), answer("a", "1"), answer("a", "2")],
        ] {
            check(&history, &history);
        }
    }

    #[test]
    fn calls_without_a_result_get_an_error_result() {
        check(
            &[asks(&["a", "b"]), answer("a", "1"), says("go on")],
            &[asks(&["a", "b"]), answer("b", NO_OUTPUT), answer("a", "1"), says("go on")],
        );
        check(&[asks(&["a"])], &[asks(&["a"]), answer("a", NO_OUTPUT)]);
        check(
            &[asks(&["same"]), asks(&["same"]), answer("same", "2")],
            &[asks(&["same"]), answer("same", NO_OUTPUT), asks(&["same"]), answer("same", "2")],
        );
    }

    #[test]
    fn results_without_a_call_are_removed() {
        check(&[answer("zz", "1"), says("x")], &[says("x")]);
        check(&[asks(&["a"]), answer("a", "1"), answer("a", "2")], &[asks(&["a"]), answer("a", "1")]);
        check(&[answer("a", "1"), asks(&["a"])], &[asks(&["a"]), answer("a", NO_OUTPUT)]);
    }

    #[test]
    fn late_results_move_to_their_calls() {
        check(
            &[asks(&["a"]), says("well?"), answer("a", "1")],
            &[asks(&["a"]), answer("a", "1"), says("well?")],
        );
    }

    #[test]
    fn the_older_function_call_gets_a_result_of_the_older_form() {
        let older = |name: &str| json!({"role": "assistant", "content": null, "function_call": {"name": name, "arguments": "{}"}});
        let said = |name: &str, text: &str| json!({"role": "function", "name": name, "content": text});
        let good = [older("f"), said("f", "1"), older("f"), said("f", "2")];
        check(&good, &good);
        check(&[older("f"), says("go on")], &[older("f"), said("f", NO_OUTPUT), says("go on")]);
        check(&[older("f"), said("g", "1")], &[older("f"), said("f", NO_OUTPUT)]);
        check(&[said("f", "1"), says("x")], &[says("x")]);
        let mut both = asks(&["a"]);
        both["function_call"] = older("f")["function_call"].clone();
        check(&[both.clone(), answer("a", "1")], &[both, answer("a", "1")]);
    }
}
