//! Repairs histories.

use super::GeminiInteractions;
use super::read::{is_call, read_call};
use super::write::result;
use crate::call::id;
use crate::codec::RepairCodec;
use crate::fields::text;
use crate::pairing::{Key, NO_OUTPUT, Pairing};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

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
            pairing.call(by_id(read_call(step, false).id));
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
    let id = read_call(call, false).id.unwrap_or_default().into_owned();
    result(&id, text(call, "name"), NO_OUTPUT.into(), false)
}
