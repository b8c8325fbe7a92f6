//! Repairs histories, so that every call has its result directly after it.

use super::OpenAiChat;
use super::read::legacy;
use crate::call;
use crate::codec::RepairCodec;
use crate::fields::{list, text};
use crate::pairing::{Entry, Key, NO_OUTPUT, Pair};
use crate::repair::directly_after;
use serde_json::{Value, json};

impl RepairCodec for OpenAiChat {
    /// Moves results directly after their calls, as the service requires, and adds missing results.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        directly_after(history, entries, is_result, results)
    }
}

/// Returns one result for each call of a message. New error results for unanswered calls come first, then the
/// existing results in their order.
fn results(mut pairs: Vec<Pair<'_>>) -> Vec<Value> {
    pairs.sort_by_key(|pair| pair.result.map(|(index, _)| index));
    let results = pairs.into_iter().map(|pair| match (pair.result, pair.key) {
        (Some((_, result)), _) => result.clone(),
        (None, Key { id: Some(id), .. }) => json!({"role": "tool", "tool_call_id": id, "content": NO_OUTPUT}),
        (None, Key { name, .. }) => json!({"role": "function", "name": name, "content": NO_OUTPUT}),
    });
    results.collect()
}

fn is_result(message: &Value) -> bool {
    matches!(text(message, "role"), "tool" | "function")
}

fn entries(message: &Value) -> Vec<Entry<'_>> {
    match text(message, "role") {
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
    }
}

/// Returns the key to pair a call and its result by `id`.
///
/// Some servers give ids neither to calls nor to results. A missing id counts as an empty id, so such calls
/// and results match.
fn by_id(id: Option<&Value>) -> Key<'_> {
    Key { id: Some(call::id(id).unwrap_or_default()), name: None }
}

/// Returns the key to pair a call and its result by name, for the older field `function_call`. A message in
/// this form has a single call, without an id.
fn by_name(named: &Value) -> Key<'_> {
    Key { id: None, name: Some(text(named, "name")) }
}
