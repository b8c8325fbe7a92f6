//! Histories made sendable again.

use super::answers::WireAnswer;
use super::part::WireCall;
use super::spelling::Fields;
use serde_json::{Value, json};

/// The service wants the content after one with calls to answer all of them, in their order.
pub(super) fn repair_history(history: Vec<Value>) -> Vec<Value> {
    let mut repaired = Vec::with_capacity(history.len());
    let mut history = history.into_iter().peekable();
    while let Some(content) = history.next() {
        if calls(&content).next().is_none() {
            repaired.extend(without_answers(content).0);
            continue;
        }
        let mut turn = Vec::new();
        while let Some(next) = history.next_if(|next| !is_models(next)) {
            turn.push(next);
        }
        let turn = if is_answered(&content, &turn) { turn } else { answer(&content, turn) };
        repaired.push(content);
        repaired.extend(turn);
    }
    repaired
}

fn is_models(content: &Value) -> bool {
    content.get("role").is_some_and(|role| role == "model")
}

fn parts(content: &Value) -> &[Value] {
    content.get("parts").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn calls(content: &Value) -> impl Iterator<Item = WireCall<'_>> {
    let parts = if is_models(content) { parts(content) } else { &[] };
    parts.iter().filter_map(WireCall::of)
}

fn answers(content: &Value) -> impl Iterator<Item = WireAnswer<'_>> {
    parts(content).iter().filter_map(WireAnswer::of)
}

fn belongs(answer: WireAnswer<'_>, call: WireCall<'_>) -> bool {
    match (answer.id(), call.id()) {
        (Some(answered), Some(asked)) => answered == asked,
        _ => answer.name() == call.name(),
    }
}

fn is_answered(content: &Value, turn: &[Value]) -> bool {
    let Some((first, later)) = turn.split_first() else { return false };
    let mut answers_here = answers(first);
    calls(content).all(|call| answers_here.next().is_some_and(|answer| belongs(answer, call)))
        && answers_here.next().is_none()
        && later.iter().all(|content| answers(content).next().is_none())
}

/// The contents of the turn, with one answer for each call at its beginning and none elsewhere.
fn answer(content: &Value, turn: Vec<Value>) -> Vec<Value> {
    let calls: Vec<WireCall<'_>> = calls(content).collect();
    let mut found: Vec<Option<Value>> = vec![None; calls.len()];
    let answers_first = turn.first().is_some_and(|first| answers(first).next().is_some());
    let mut rest = Vec::new();
    for (index, content) in turn.into_iter().enumerate() {
        let (content, answers) = without_answers(content);
        for part in answers {
            let place = WireAnswer::of(&part).and_then(|answer| {
                let mut open = calls.iter().zip(&found).map(|(call, found)| (call, found.is_none()));
                open.position(|(call, open)| open && belongs(answer, *call))
            });
            if let Some(place) = place.and_then(|place| found.get_mut(place)) {
                *place = Some(part);
            }
        }
        rest.extend(content.map(|content| (index, content)));
    }
    let mut answers: Vec<Value> =
        found.into_iter().zip(&calls).map(|(found, call)| found.unwrap_or_else(|| missing(*call))).collect();

    // What else stood beside the answers stays beside them.
    if answers_first && rest.first().is_some_and(|(index, _)| *index == 0) {
        answers.extend(parts(&rest.remove(0).1).iter().cloned());
    }
    let mut repaired = vec![json!({"role": "user", "parts": answers})];
    repaired.extend(rest.into_iter().map(|(_, content)| content));
    repaired
}

fn missing(call: WireCall<'_>) -> Value {
    let mut answer = Fields::new();
    if let Some(id) = call.id() {
        answer.insert("id".to_owned(), id.into());
    }
    answer.insert("name".to_owned(), call.name().into());
    answer.insert("response".to_owned(), json!({"output": "[No output available yet]"}));
    json!({"functionResponse": answer})
}

/// The content without its answers, and these. A content that held nothing else is `None`.
fn without_answers(mut content: Value) -> (Option<Value>, Vec<Value>) {
    if answers(&content).next().is_none() {
        return (Some(content), Vec::new());
    }
    let Some(parts) = content.get_mut("parts").and_then(Value::as_array_mut) else {
        return (Some(content), Vec::new());
    };
    let (answers, others): (Vec<Value>, Vec<Value>) =
        std::mem::take(parts).into_iter().partition(|part| WireAnswer::of(part).is_some());
    if others.is_empty() {
        return (None, answers);
    }
    *parts = others;
    (Some(content), answers)
}
