//! Writes steps for the next request, and repairs histories.

use super::call::{self, is_call};
use super::{FACTS, GeminiInteractions, media};
use crate::call::{Message, OutgoingCall, id};
use crate::codec::{HistoryCodec, RepairCodec};
use crate::fields::{set, text};
use crate::pairing::{Key, NO_OUTPUT, Pairing};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use toolkit_core::output::Content;

impl HistoryCodec for GeminiInteractions {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut step = call.fields(FACTS.name);
        set(&mut step, "type", "function_call");
        set(&mut step, "id", call.id);
        set(&mut step, "name", call.name);
        set(&mut step, "arguments", call.arguments.into_object());
        step.into()
    }

    /// Copies a received step into the next request. Steps with the user's input or the result of a function
    /// are dropped, because the history already contains them.
    fn write_part(&self, step: &Value) -> Option<Value> {
        let is_dropped = matches!(text(step, "type"), "" | "user_input" | "function_result");
        (!is_dropped).then(|| step.clone())
    }

    fn write_message(&self, _message: &Message<'_>, steps: Vec<Value>) -> Vec<Value> {
        steps
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text).filter(|text| !text.is_empty());
        let output =
            text.map(|text| json!({"type": "model_output", "content": [{"type": "text", "text": text}]}));
        output.into_iter().chain(calls).collect()
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        let content: Vec<Value> = contents.iter().map(media::block).collect();
        json!({"type": "user_input", "content": content})
    }
}

impl RepairCodec for GeminiInteractions {
    /// Removes results without a call, and adds missing results. A missing result is added after all calls of
    /// the turn, so that parallel calls stay together. All other steps stay at their positions.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        let answered = pair(&history);
        let paired: HashSet<usize> = answered.values().copied().flatten().collect();
        let mut repaired = Vec::with_capacity(history.len());
        let mut due = Vec::new();
        for (index, step) in history.into_iter().enumerate() {
            match answered.get(&index) {
                Some(None) => due.push(no_output(&step)),
                Some(Some(_)) => {}
                None => repaired.append(&mut due),
            }
            if paired.contains(&index) || !is_result(&step) {
                repaired.push(step);
            }
        }
        repaired.append(&mut due);
        repaired
    }
}

/// Returns the index of each call, with the index of its result if there is one. Adjacent calls belong to one
/// turn.
fn pair(history: &[Value]) -> HashMap<usize, Option<usize>> {
    let mut pairing = Pairing::default();
    let mut calls = Vec::new();
    let mut pairs = HashMap::new();
    for (index, step) in history.iter().enumerate() {
        if is_call(step) {
            pairing.call(by_id(call::read(step, false).id));
            calls.push(index);
            pairs.insert(index, None);
            continue;
        }
        pairing.begin_turn();
        let call = is_result(step).then(|| pairing.result(by_id(id(step.get("call_id"))))).flatten();
        if let Some(call) = call.and_then(|number| calls.get(number)) {
            pairs.insert(*call, Some(index));
        }
    }
    pairs
}

/// Returns the key to pair a call and its result. A missing id counts as an empty id.
fn by_id(id: Option<Cow<'_, str>>) -> Key<'_> {
    Key { id: Some(id.unwrap_or_default()), name: None }
}

fn is_result(step: &Value) -> bool {
    text(step, "type") == "function_result"
}

fn no_output(call: &Value) -> Value {
    let id = call::read(call, false).id.unwrap_or_default().into_owned();
    result(&id, text(call, "name"), NO_OUTPUT.into(), false)
}

/// Creates a step of the type `function_result`.
pub(super) fn result(id: &str, name: &str, result: Value, is_error: bool) -> Value {
    let mut step = json!({"type": "function_result", "call_id": id, "name": name, "result": result});
    if is_error {
        step["is_error"] = true.into();
    }
    step
}
