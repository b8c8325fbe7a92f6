//! Histories in which every call has its answer.

use super::call::{CUSTOM, FUNCTION, WireCall, copy};
use super::response::{Fields, kind};
use super::results::{CUSTOM_OUTPUT, FUNCTION_OUTPUT};
use crate::ids;
use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};

/// The service demands an id of each call, which not all servers give. An answer without one belongs to the
/// earliest such call before it that has none yet.
///
/// Each answer belongs to the earliest call before it that has its id and no answer yet. Answers that
/// belong to none go. Calls that have none get one after the calls beside them, so that calls
/// made at once stay together.
pub(super) fn repair_history(mut history: Vec<Value>) -> Vec<Value> {
    identify(&mut history);
    let (unanswered, orphans) = unpaired(&history);
    let mut repaired = Vec::with_capacity(history.len() + unanswered.len());
    let mut due = Vec::new();
    for (index, item) in history.into_iter().enumerate() {
        if orphans.contains(&index) {
            continue;
        }
        if call_id(&item).is_none() {
            repaired.append(&mut due);
        }
        if unanswered.contains(&index) {
            due.extend(no_answer(&item));
        }
        repaired.push(item);
    }
    repaired.append(&mut due);
    repaired
}

/// Gives an id to calls that have none, and to their answers.
fn identify(history: &mut [Value]) {
    let is_call = |item: &&Value| {
        item.as_object().and_then(kind).is_some_and(|kind| [FUNCTION, CUSTOM].contains(&kind))
    };
    let calls = history.iter().filter(is_call).filter_map(WireCall::of);
    let mut ids = ids::complete(calls.map(|call| (call.item(), call.id()))).into_iter();
    let mut open = VecDeque::new();
    for item in history {
        let is_call = is_call(&&*item);
        let id = if is_call { ids.next() } else { None };
        let has_id = item.get("call_id").and_then(Value::as_str).is_some_and(|id| !id.is_empty());
        let is_answer = answered_id(item).is_some();
        if has_id || !(is_call || is_answer) {
            continue;
        }
        let id = match id {
            Some(id) => {
                open.push_back(id.clone());
                Some(id)
            }
            None => open.pop_front(),
        };
        if let (Some(id), Some(item)) = (id, item.as_object_mut()) {
            item.insert("call_id".to_owned(), id.as_str().into());
        }
    }
}

/// The positions of calls without an answer, and of answers without a call.
fn unpaired(history: &[Value]) -> (HashSet<usize>, HashSet<usize>) {
    let mut open: HashMap<&str, VecDeque<usize>> = HashMap::new();
    let mut orphans = HashSet::new();
    for (index, item) in history.iter().enumerate() {
        if let Some(id) = call_id(item) {
            open.entry(id).or_default().push_back(index);
        } else if let Some(id) = answered_id(item) {
            let call = id.and_then(|id| open.get_mut(id)).and_then(VecDeque::pop_front);
            if call.is_none() {
                orphans.insert(index);
            }
        }
    }
    (open.into_values().flatten().collect(), orphans)
}

/// The id of a call that wants an answer from us.
fn call_id(item: &Value) -> Option<&str> {
    let (FUNCTION | CUSTOM) = kind(item.as_object()?)? else { return None };
    item.get("call_id")?.as_str()
}

/// The id that an answer has, if it is an answer and has one.
fn answered_id(item: &Value) -> Option<Option<&str>> {
    let (FUNCTION_OUTPUT | CUSTOM_OUTPUT) = kind(item.as_object()?)? else { return None };
    Some(item.get("call_id").and_then(Value::as_str))
}

/// An answer has no `status` here: nothing was completed.
fn no_answer(call: &Value) -> Option<Value> {
    let call = call.as_object()?;
    let is_custom = kind(call) == Some(CUSTOM);
    let mut answer = Fields::new();
    answer.insert("type".to_owned(), if is_custom { CUSTOM_OUTPUT } else { FUNCTION_OUTPUT }.into());
    copy(call, &mut answer, &["call_id"]);
    answer.insert("output".to_owned(), "[No output available yet]".into());
    copy(call, &mut answer, if is_custom { &["caller"] } else { &["namespace", "caller"] });
    Some(Value::Object(answer))
}
