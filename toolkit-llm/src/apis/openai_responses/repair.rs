//! Repairs histories, so that every call has a result.

use super::client::{self, is_result};
use super::read::read_call as read;
use super::{CUSTOM, CUSTOM_OUTPUT, FACTS, FUNCTION, FUNCTION_OUTPUT, OpenAiResponses};
use crate::call::WireCall;
use crate::codec::RepairCodec;
use crate::fields::{Fields, copy, kind, set, text};
use crate::ids;
use crate::pairing::{Key, NO_OUTPUT, Pairing};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use toolkit_core::{ErrorKind, ToolError, ToolResult};
use toolkit_schema::SchemaLoss;

impl RepairCodec for OpenAiResponses {
    /// Removes results without a call, and adds missing results. A missing result is added after all calls of
    /// the turn, so that parallel calls stay together. Reasoning that nothing of the model follows is removed. All other
    /// items stay at their positions.
    ///
    /// An `item_reference` refers to an item that the service stores. The item may be a call, so a history with such a
    /// reference keeps all results.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        let has_references = history.iter().any(is_reference);
        repair(history, has_references)
    }

    fn repair_continuation(&self, history: Vec<Value>) -> Vec<Value> {
        repair(history, true)
    }

    /// Removes the `caller` of a call and of its result if the history lacks the program that made the call.
    fn without_unfinished(
        &self,
        mut history: Vec<Value>,
        request: Option<&Fields>,
        losses: &mut Vec<SchemaLoss>,
    ) -> Vec<Value> {
        if request.is_some_and(|request| FACTS.is_continued(request)) || history.iter().any(is_reference) {
            return history;
        }
        let programs = history.iter().filter(|item| text(item, "type") == "program");
        let programs: HashSet<String> = programs.map(|item| text(item, "call_id").to_owned()).collect();
        let mut direct: HashSet<String> = HashSet::new();
        for (index, item) in history.iter_mut().enumerate() {
            let caller = item.get("caller").map_or("", |caller| text(caller, "caller_id"));
            let is_known = caller.is_empty() || programs.contains(caller);
            // The service may keep the call of a result.
            if is_known || is_result(item) && !direct.contains(client::answered(item)) {
                continue;
            }
            if !is_result(item) {
                direct.insert(client::answered(item).to_owned());
                let reason =
                    "the program that made this call is missing, so it is sent as a call of the model";
                losses.push(SchemaLoss::new(format!("/{index}"), "caller", reason));
            }
            if let Some(fields) = item.as_object_mut() {
                fields.shift_remove("caller");
            }
        }
        history
    }
}

/// Returns whether an item only refers to another item, which the service stores.
fn is_reference(item: &Value) -> bool {
    text(item, "type") == "item_reference"
}

/// Repairs a history. If `is_part` is `true`, the service may store further calls that are not in `history`. A result
/// is then removed only if its call is in `history` and already has another result.
fn repair(mut history: Vec<Value>, is_part: bool) -> Vec<Value> {
    let pairs = pair(&history);
    identify(&mut history, &pairs);
    let known = call_ids(&history);
    let results: HashSet<usize> = pairs.iter().filter_map(|(_, result)| *result).collect();
    let is_missing: HashMap<usize, bool> =
        pairs.into_iter().map(|(call, result)| (call, result.is_none())).collect();
    let is_lost = |index: usize, item: &Value| {
        // The service may keep the calls of tools that it defines itself.
        let is_kept = || client::of_output(item).is_some();
        let is_elsewhere = || is_part && !known.contains(client::answered(item));
        is_result(item) && !results.contains(&index) && !is_kept() && !is_elsewhere()
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
    without_lone_reasoning(repaired)
}

/// Removes each reasoning item that no further item of the model follows. The service refuses such an item: "Item 'rs_1'
/// of type 'reasoning' was provided without its required following item."
fn without_lone_reasoning(mut history: Vec<Value>) -> Vec<Value> {
    let mut is_followed = false;
    let is_kept: Vec<bool> = history
        .iter()
        .rev()
        .map(|item| {
            let is_reasoning = text(item, "type") == "reasoning";
            is_followed = if is_reasoning { is_followed } else { is_of_model(item) };
            is_followed || !is_reasoning
        })
        .collect();
    let mut is_kept = is_kept.into_iter().rev();
    history.retain(|_| is_kept.next().unwrap_or(true));
    history
}

/// Returns whether the model wrote an item. A reference may stand for such an item.
fn is_of_model(item: &Value) -> bool {
    let is_answer = is_result(item) || text(item, "type") == "mcp_approval_response";
    !is_answer && matches!(text(item, "role"), "" | "assistant")
}

/// Returns the ids of all calls in the history.
fn call_ids(history: &[Value]) -> HashSet<String> {
    let is_call = |item: &&Value| text(item, "type").ends_with("_call") || read_call(item).is_some();
    history.iter().filter(is_call).map(|call| client::answered(call).to_owned()).collect()
}

/// Returns the index of each call, with the index of its result if there is one. Adjacent calls belong to one
/// turn.
fn pair(history: &[Value]) -> Vec<(usize, Option<usize>)> {
    let mut pairing = Pairing::default();
    let mut pairs = Vec::new();
    for (index, item) in history.iter().enumerate() {
        if let Some(call) = read_call(item) {
            let name = (!has_id(item)).then_some("");
            pairing.call(Key { id: call.id, name });
            pairs.push((index, None));
            continue;
        }
        pairing.begin_turn();
        if is_result(item) {
            let key = match Some(client::answered(item)).filter(|id| !id.is_empty()) {
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

/// Adds an id to each call that has none, and to its result. The service requires ids, but not all servers
/// send them.
fn identify(history: &mut [Value], pairs: &[(usize, Option<usize>)]) {
    let calls: Vec<WireCall<'_>> = history.iter().filter_map(read_call).collect();
    let ids = ids::complete(calls.iter().map(|call| (call.json, call.id.as_deref())));
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
    let is_client = || item.as_object().is_some_and(|item| client::of_call(item).is_some());
    (matches!(text(item, "type"), FUNCTION | CUSTOM) || is_client()).then(|| read(item, false))?
}

fn has_id(item: &Value) -> bool {
    !client::answered(item).is_empty()
}

/// Creates a placeholder result for a call that has none. The placeholder has no `status`, because nothing
/// was completed, unless the service requires a `status`.
fn no_output(item: &Value) -> Option<Value> {
    let call = item.as_object()?;
    if let Some(client) = client::of_call(call) {
        let read = read(item, false)?;
        let id = read.id.as_deref().unwrap_or_default().to_owned();
        let result = ToolResult::of(
            &read.into_call(id.as_str().into()),
            Err(ToolError::new(ErrorKind::Failed, NO_OUTPUT)),
        );
        return client.write_result(&result, &id).into_iter().next();
    }
    let is_custom = kind(call) == Some(CUSTOM);
    let mut result = Fields::new();
    set(&mut result, "type", if is_custom { CUSTOM_OUTPUT } else { FUNCTION_OUTPUT });
    copy(call, &mut result, &["call_id"]);
    set(&mut result, "output", NO_OUTPUT);
    copy(call, &mut result, if is_custom { &["caller"] } else { &["namespace", "caller"] });
    Some(Value::Object(result))
}
