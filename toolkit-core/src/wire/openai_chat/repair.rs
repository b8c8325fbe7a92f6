//! A history in which every call has its answer, directly after it.

use serde_json::{Value, json};
use std::collections::HashMap;

/// Answers a call that nobody answered.
const NO_OUTPUT: &str = "[No output available yet]";

/// The answers to the calls of one message.
#[derive(Default)]
struct Answers {
    /// Ids that are not answered yet, in the order of the calls.
    open: Vec<String>,
    messages: Vec<Value>,
}

/// An answer belongs to the nearest call before it that has its id and no answer. The service takes
/// answers directly after the calls only, so one that comes later moves up.
pub(super) fn repair_history(history: Vec<Value>) -> Vec<Value> {
    let mut answers: HashMap<usize, Answers> = HashMap::new();
    let mut askers: HashMap<String, Vec<usize>> = HashMap::new();
    let mut kept = Vec::with_capacity(history.len());
    for message in history {
        if message.get("role").is_some_and(|role| role == "tool") {
            let id = id(message.get("tool_call_id"));
            let asker = askers.get_mut(&id).and_then(Vec::pop);
            if let Some(answers) = asker.and_then(|asker| answers.get_mut(&asker)) {
                answers.take(&id, message);
            }
            continue;
        }
        let calls = calls(&message);
        if !calls.is_empty() {
            for id in &calls {
                askers.entry(id.clone()).or_default().push(kept.len());
            }
            answers.insert(kept.len(), Answers { open: calls, messages: Vec::new() });
        }
        kept.push(message);
    }
    let mut repaired = Vec::with_capacity(kept.len());
    for (at, message) in kept.into_iter().enumerate() {
        repaired.push(message);
        if let Some(answers) = answers.remove(&at) {
            repaired.extend(answers.into_messages());
        }
    }
    repaired
}

impl Answers {
    fn take(&mut self, id: &str, message: Value) {
        if let Some(at) = self.open.iter().position(|open| open == id) {
            self.open.remove(at);
        }
        self.messages.push(message);
    }

    fn into_messages(self) -> impl Iterator<Item = Value> {
        let missing =
            self.open.into_iter().map(|id| json!({"role": "tool", "tool_call_id": id, "content": NO_OUTPUT}));
        missing.chain(self.messages)
    }
}

/// The ids of the calls that a message asks for.
fn calls(message: &Value) -> Vec<String> {
    if message.get("role").is_none_or(|role| role != "assistant") {
        return Vec::new();
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    calls.map(|call| id(call.get("id"))).collect()
}

/// Servers that give no ids have calls and answers without one, which belong together.
fn id(id: Option<&Value>) -> String {
    match id {
        Some(Value::String(id)) => id.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
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
        assert_eq!(repair_history(history.to_vec()), repaired);
        assert_eq!(repair_history(repaired.to_vec()), repaired, "repairing twice");
    }

    #[test]
    fn good_histories_stay() {
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
    fn calls_without_an_answer_get_one() {
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
    fn answers_without_a_call_go() {
        check(&[answer("zz", "1"), says("x")], &[says("x")]);
        check(&[asks(&["a"]), answer("a", "1"), answer("a", "2")], &[asks(&["a"]), answer("a", "1")]);
        check(&[answer("a", "1"), asks(&["a"])], &[asks(&["a"]), answer("a", NO_OUTPUT)]);
    }

    #[test]
    fn late_answers_move_to_their_calls() {
        check(
            &[asks(&["a"]), says("well?"), answer("a", "1")],
            &[asks(&["a"]), answer("a", "1"), says("well?")],
        );
    }
}
