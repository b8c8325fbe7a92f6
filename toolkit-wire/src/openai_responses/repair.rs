//! Repairs histories, so that every call has a result.

use super::OpenAiResponses;
use super::call::{self, CUSTOM, FUNCTION, copy};
use super::results::{CUSTOM_OUTPUT, FUNCTION_OUTPUT};
use crate::call::WireCall;
use crate::codec::RepairCodec;
use crate::fields::{Fields, text};
use crate::ids;
use crate::pairing::{Key, NO_OUTPUT, Pairing};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

impl RepairCodec for OpenAiResponses {
    /// Removes results without a call, and adds missing results. A missing result is added after the calls of
    /// its turn, so that parallel calls stay together. All other items stay at their positions.
    ///
    /// An `item_reference` stands for an item that the service keeps. The item may be a call, so a history with
    /// such a reference keeps all results.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        let has_references = history.iter().any(|item| text(item, "type") == "item_reference");
        repair(history, has_references)
    }

    fn repair_continuation(&self, history: Vec<Value>) -> Vec<Value> {
        repair(history, true)
    }
}

/// Repairs a history. If `is_part` is `true`, the service keeps further calls, and only a second result for a
/// call of the history is removed.
fn repair(mut history: Vec<Value>, is_part: bool) -> Vec<Value> {
    let pairs = pair(&history);
    identify(&mut history, &pairs);
    let known = call_ids(&history);
    let results: HashSet<usize> = pairs.iter().filter_map(|(_, result)| *result).collect();
    let is_missing: HashMap<usize, bool> =
        pairs.into_iter().map(|(call, result)| (call, result.is_none())).collect();
    let is_lost = |index: usize, item: &Value| {
        let is_elsewhere = || is_part && !known.contains(text(item, "call_id"));
        is_result(item) && !results.contains(&index) && !is_elsewhere()
    };
    let is_lost: Vec<bool> = history.iter().enumerate().map(|(index, item)| is_lost(index, item)).collect();
    let mut repaired = Vec::with_capacity(history.len());
    let mut due = Vec::new();
    for (index, (item, is_lost)) in history.into_iter().zip(is_lost).enumerate() {
        if is_lost {
            continue;
        }
        match is_missing.get(&index) {
            Some(true) => due.extend(no_output(&item)),
            Some(false) => {}
            None => repaired.append(&mut due),
        }
        repaired.push(item);
    }
    repaired.append(&mut due);
    repaired
}

/// Returns the ids of all calls in the history.
fn call_ids(history: &[Value]) -> HashSet<String> {
    let calls = history.iter().filter(|item| text(item, "type").ends_with("_call"));
    calls.map(|call| text(call, "call_id").to_owned()).collect()
}

/// Returns the index of each call, with the index of its result if there is one. Adjacent calls belong to one
/// turn.
fn pair(history: &[Value]) -> Vec<(usize, Option<usize>)> {
    let mut pairing = Pairing::default();
    let mut pairs = Vec::new();
    for (index, item) in history.iter().enumerate() {
        if let Some(id) = awaited(item) {
            let name = (!has_id(item)).then_some("");
            pairing.call(Key { id, name });
            pairs.push((index, None));
            continue;
        }
        pairing.begin_turn();
        if is_result(item) || text(item, "type").ends_with("_output") && has_id(item) {
            let key = match item.get("call_id").and_then(Value::as_str) {
                Some(id) => Key { id: Some(id.into()), name: None },
                None => Key { id: None, name: Some("") },
            };
            if let Some(pair) = pairing.result(key).and_then(|number| pairs.get_mut(number)) {
                pair.1 = Some(index);
            }
        }
    }
    pairs
}

/// Returns the id of a call that waits for a result of the client. Returns `None` for other items.
///
/// The service answers its own calls. Among the calls of hosted tools, only those in [`no_output`] wait for the
/// client.
fn awaited(item: &Value) -> Option<Option<Cow<'_, str>>> {
    match read_call(item) {
        Some(call) => Some(call.id),
        None => no_output(item).filter(|_| has_id(item)).map(|_| Some(text(item, "call_id").into())),
    }
}

/// Adds an id to calls without one, and to their results. The service requires ids, but not all servers send
/// them.
fn identify(history: &mut [Value], pairs: &[(usize, Option<usize>)]) {
    let calls = pairs.iter().filter_map(|(call, _)| history.get(*call));
    let calls: Vec<_> = calls.map(|item| (item, awaited(item).flatten())).collect();
    let ids = ids::complete(calls.iter().map(|(item, id)| (*item, id.as_deref())));
    for ((call, result), id) in pairs.iter().zip(ids) {
        for index in [Some(*call), *result].into_iter().flatten() {
            match history.get_mut(index) {
                Some(item) if !has_id(item) => item["call_id"] = id.as_str().into(),
                _ => {}
            }
        }
    }
}

fn read_call(item: &Value) -> Option<WireCall<'_>> {
    matches!(text(item, "type"), FUNCTION | CUSTOM).then(|| call::read(item, false))?
}

fn has_id(item: &Value) -> bool {
    !text(item, "call_id").is_empty()
}

fn is_result(item: &Value) -> bool {
    matches!(text(item, "type"), FUNCTION_OUTPUT | CUSTOM_OUTPUT)
}

/// Returns the result for a call without a result, or `None` if the client does not answer such calls. The
/// result has no `status` unless the service requires it, because nothing was completed.
fn no_output(item: &Value) -> Option<Value> {
    let call = item.as_object()?;
    let is_local = || item.pointer("/environment/type").is_some_and(|kind| kind == "local");
    let (fields, repeated): (Value, &[&str]) = match call::kind(call)? {
        CUSTOM => (json!({"type": CUSTOM_OUTPUT, "output": NO_OUTPUT}), &["caller"]),
        FUNCTION => (json!({"type": FUNCTION_OUTPUT, "output": NO_OUTPUT}), &["namespace", "caller"]),
        "apply_patch_call" => {
            (json!({"type": "apply_patch_call_output", "status": "failed", "output": NO_OUTPUT}), &["caller"])
        }
        "shell_call" if is_local() => {
            let output = json!({"stdout": "", "stderr": NO_OUTPUT, "outcome": {"type": "timeout"}});
            (json!({"type": "shell_call_output", "output": [output]}), &["caller"])
        }
        "tool_search_call" if text(item, "execution") == "client" => {
            let none = json!({"type": "tool_search_output", "tools": [], "status": "completed"});
            (none, &["execution"])
        }
        _ => return None,
    };
    let Value::Object(fields) = fields else { return None };
    let mut result = Fields::new();
    copy(&fields, &mut result, &["type"]);
    copy(call, &mut result, &["call_id"]);
    result.extend(fields);
    copy(call, &mut result, repeated);
    Some(Value::Object(result))
}
