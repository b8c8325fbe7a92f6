//! Histories whose calls and answers do not fit together, made sendable.

use super::calls::is_blank;
use super::media::text_block;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};

/// What a call is answered with that never was.
const UNANSWERED: &str = "[No output available yet]";

/// The service wants the answers to all calls of a message in the next one, before anything else, and
/// no answers without a call. It reads neighbouring messages of the user as one.
pub(super) fn repair_history(history: Vec<Value>) -> Vec<Value> {
    let mut answers = Answers::find(&history);
    let mut repaired = Vec::with_capacity(history.len());
    let mut messages = history.into_iter().enumerate().peekable();
    while let Some((index, message)) = messages.next() {
        let calls = answers.calls_of(index);
        let mut replies = Vec::new();
        if !is_from(&message, "user") {
            repaired.push(message);
        } else {
            replies.push(message);
        }
        while let Some((_, reply)) = messages.next_if(|(_, next)| is_from(next, "user")) {
            replies.push(reply);
        }
        if !is_answered(&calls, &replies) {
            replies = answer(calls, replies);
        }
        repaired.extend(replies);
    }
    repaired
}

/// A call, and its answer if there is one.
struct Call {
    id: String,
    answer: Option<Value>,
}

/// The calls of every message that has some, by the message's index.
struct Answers(HashMap<usize, Vec<Call>>);

impl Answers {
    /// An answer belongs to the latest call before it that has its id and no answer yet.
    fn find(history: &[Value]) -> Self {
        let mut calls: HashMap<usize, Vec<Call>> = HashMap::new();
        let mut open: HashMap<&str, VecDeque<(usize, usize)>> = HashMap::new();
        for (index, message) in history.iter().enumerate() {
            for block in blocks(message) {
                if is_from(message, "assistant")
                    && let Some(id) = call_id(block)
                {
                    let calls = calls.entry(index).or_default();
                    let waiting = open.entry(id).or_default();
                    if waiting.front().is_some_and(|(message, _)| *message != index) {
                        waiting.clear();
                    }
                    waiting.push_back((index, calls.len()));
                    calls.push(Call { id: id.to_owned(), answer: None });
                } else if is_from(message, "user")
                    && let Some(id) = answered_id(block)
                    && let Some((message, call)) = open.get_mut(id).and_then(VecDeque::pop_front)
                    && let Some(call) = calls.get_mut(&message).and_then(|calls| calls.get_mut(call))
                {
                    call.answer = Some(block.clone());
                }
            }
        }
        Self(calls)
    }

    fn calls_of(&mut self, index: usize) -> Vec<Call> {
        self.0.remove(&index).unwrap_or_default()
    }
}

/// Whether the replies begin with exactly the answers to the calls, in any order.
fn is_answered(calls: &[Call], replies: &[Value]) -> bool {
    let mut waiting: HashMap<&str, usize> = HashMap::new();
    for call in calls {
        *waiting.entry(&call.id).or_default() += 1;
    }
    let mut left = calls.len();
    for reply in replies {
        // A message without a list of blocks holds a text.
        let text = reply.get("content").is_some_and(|content| !content.is_array());
        if text && left > 0 {
            return false;
        }
        for block in blocks(reply) {
            match (answered_id(block), left) {
                (None, 0) => {}
                (None, _) => return false,
                (Some(id), _) => match waiting.get_mut(id) {
                    Some(count @ 1..) => {
                        *count -= 1;
                        left -= 1;
                    }
                    _ => return false,
                },
            }
        }
    }
    left == 0
}

/// The replies with the answers at their beginning and nowhere else.
fn answer(calls: Vec<Call>, replies: Vec<Value>) -> Vec<Value> {
    let answers = calls.into_iter().map(|Call { id, answer }| {
        answer.unwrap_or_else(|| json!({"type": "tool_result", "tool_use_id": id, "content": UNANSWERED}))
    });
    let answers: Vec<Value> = answers.collect();
    let mut replies: Vec<Value> = replies.into_iter().filter_map(without_answers).collect();
    if answers.is_empty() {
        return replies;
    }
    match replies.first_mut() {
        Some(first) => prepend(answers, first),
        None => replies.push(json!({"role": "user", "content": answers})),
    }
    replies
}

/// `None` if nothing else was in it.
fn without_answers(mut message: Value) -> Option<Value> {
    if let Some(Value::Array(blocks)) = message.get_mut("content") {
        let before = blocks.len();
        blocks.retain(|block| !is_answer(block));
        if blocks.is_empty() && before > 0 {
            return None;
        }
    }
    Some(message)
}

fn prepend(mut blocks: Vec<Value>, message: &mut Value) {
    match message.get_mut("content").map(Value::take) {
        Some(Value::Array(rest)) => blocks.extend(rest),
        Some(Value::String(text)) if !is_blank(&text) => blocks.push(text_block(&text)),
        _ => {}
    }
    if let Some(fields) = message.as_object_mut() {
        fields.insert("content".to_owned(), blocks.into());
    }
}

fn is_from(message: &Value, role: &str) -> bool {
    message.get("role").is_some_and(|given| given == role)
}

fn blocks(message: &Value) -> &[Value] {
    message.get("content").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn call_id(block: &Value) -> Option<&str> {
    if block.get("type")? == "tool_use" { block.get("id")?.as_str() } else { None }
}

fn is_answer(block: &Value) -> bool {
    block.get("type").is_some_and(|kind| kind == "tool_result")
}

/// An answer that names no call answers none.
fn answered_id(block: &Value) -> Option<&str> {
    is_answer(block).then(|| block.get("tool_use_id").and_then(Value::as_str).unwrap_or_default())
}
