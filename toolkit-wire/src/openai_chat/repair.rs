//! A history in which every call has its answer, directly after it.

use serde_json::{Value, json};
use std::collections::HashMap;

/// Answers a call that nobody answered.
const NO_OUTPUT: &str = "[No output available yet]";

/// What a call and its answer have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// The id. Servers that give none have calls and answers without one, which belong together.
    Id(String),
    /// The name of the function, in the form before `tool_calls`, where a message asks for one call.
    Function(String),
}

/// The answers to the calls of one message.
#[derive(Default)]
struct Answers {
    /// What is not answered yet, in the order of the calls.
    open: Vec<Key>,
    messages: Vec<Value>,
}

/// An answer belongs to the nearest call before it that has its id and no answer. The service takes
/// answers directly after the calls only, so one that comes later moves up.
pub(super) fn repair_history(history: Vec<Value>) -> Vec<Value> {
    let mut answers: HashMap<usize, Answers> = HashMap::new();
    let mut askers: HashMap<Key, Vec<usize>> = HashMap::new();
    let mut kept = Vec::with_capacity(history.len());
    for message in history {
        if let Some(key) = answered(&message) {
            let asker = askers.get_mut(&key).and_then(Vec::pop);
            if let Some(answers) = asker.and_then(|asker| answers.get_mut(&asker)) {
                answers.take(&key, message);
            }
            continue;
        }
        let calls = calls(&message);
        if !calls.is_empty() {
            for key in &calls {
                askers.entry(key.clone()).or_default().push(kept.len());
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
    fn take(&mut self, key: &Key, message: Value) {
        if let Some(at) = self.open.iter().position(|open| open == key) {
            self.open.remove(at);
        }
        self.messages.push(message);
    }

    fn into_messages(self) -> impl Iterator<Item = Value> {
        let missing = self.open.into_iter().map(|key| match key {
            Key::Id(id) => json!({"role": "tool", "tool_call_id": id, "content": NO_OUTPUT}),
            Key::Function(name) => json!({"role": "function", "name": name, "content": NO_OUTPUT}),
        });
        missing.chain(self.messages)
    }
}

/// The calls that a message asks for. Beside `tool_calls`, the older `function_call` says the same.
fn calls(message: &Value) -> Vec<Key> {
    if message.get("role").is_none_or(|role| role != "assistant") {
        return Vec::new();
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let calls: Vec<Key> = calls.map(|call| Key::Id(text(call.get("id")))).collect();
    let older = || message.get("function_call").and_then(Value::as_object).filter(|call| !call.is_empty());
    match calls.is_empty() {
        true => older().map(|call| Key::Function(text(call.get("name")))).into_iter().collect(),
        false => calls,
    }
}

/// The call that a message answers, if it is an answer.
fn answered(message: &Value) -> Option<Key> {
    match message.get("role")?.as_str()? {
        "tool" => Some(Key::Id(text(message.get("tool_call_id")))),
        "function" => Some(Key::Function(text(message.get("name")))),
        _ => None,
    }
}

fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
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

    #[test]
    fn the_older_form_is_repaired_in_its_own_words() {
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
