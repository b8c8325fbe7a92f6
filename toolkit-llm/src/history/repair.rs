//! Repairs histories: every call gets one result, where the API's
//! [`ResultRule`](crate::facts::result_rule::ResultRule) expects it.

use super::results::is_blank;
use crate::call::ids;
use crate::call::pairing::{CallKey, Entry, Pairing};
use crate::codec::Codec;
use crate::facts::IdRule;
use crate::facts::result_rule::{Replies, RequiredIds, ResultPlace};
use crate::json::fields::list;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use toolkit_core::name::NameRule;

/// The indices of a message and of its part.
type Position = (usize, usize);

struct FoundCall<'a> {
    position: Position,
    key: CallKey<'a>,
    json: &'a Value,
    result: Option<Position>,
}

struct Answered {
    call: Position,
    result: Option<Position>,
    placeholder: Value,
}

/// Moves results to the accepted positions, adds missing ones, and removes those without a call.
///
/// If the service stores the conversation (`is_continued`), results of calls that only the service can have
/// stay.
pub(crate) fn repair(codec: &dyn Codec, mut history: Vec<Value>, is_continued: bool) -> Vec<Value> {
    let rule = codec.facts().results;
    let (mut answered, mut removed) = pair(codec, &mut history, is_continued);
    let mut due: HashMap<usize, Vec<Value>> = HashMap::new();
    for turn in answered.chunk_by_mut(|one, next| one.call.0 == next.call.0) {
        let Some((message, _)) = turn.first().map(|first| first.call) else { continue };
        let stay = match rule.place {
            ResultPlace::AfterCall => true,
            ResultPlace::DirectlyAfter => {
                if !rule.in_call_order {
                    turn.sort_by_key(|answered| answered.result);
                }
                false
            }
            ResultPlace::NextMessage(replies) => are_in_place(&history, rule.in_call_order, &replies, turn),
        };
        let mut results = Vec::new();
        for answered in turn {
            match answered.result {
                None => results.push(answered.placeholder.take()),
                Some(_) if stay => {}
                Some(result) => {
                    removed.insert(result);
                    results.extend(part_mut(&mut history, rule.place, result).map(Value::take));
                }
            }
        }
        due.insert(message, results);
    }
    write(history, rule.place, due, &removed)
}

/// Pairs calls with results, and gives calls the required ids. Returns the calls, and the positions of
/// results without a call.
fn pair(codec: &dyn Codec, history: &mut [Value], is_continued: bool) -> (Vec<Answered>, HashSet<Position>) {
    let rule = codec.facts().results;
    let is_continued = is_continued || history.iter().any(|message| codec.is_reference(message));
    let mut pairing = Pairing::default();
    let mut calls: Vec<FoundCall<'_>> = Vec::new();
    let mut orphans = Vec::new();
    for (index, message) in history.iter().enumerate() {
        let entries = codec.entries(message);
        let is_call = entries.iter().any(|(_, entry)| matches!(entry, Entry::Call(..)));
        if !(is_call && matches!(rule.place, ResultPlace::AfterCall)) {
            pairing.begin_turn();
        }
        for (at, entry) in entries {
            let position = (index, at);
            match entry {
                Entry::Call(key, json) => {
                    pairing.call(key.clone());
                    calls.push(FoundCall { position, key, json, result: None });
                }
                Entry::Result(key, result) => match pairing.result(key.clone()) {
                    Some(number) => calls[number].result = Some(position),
                    None if codec.may_be_alone(result) => {}
                    None => orphans.push((position, key)),
                },
            }
        }
    }
    if is_continued {
        match rule.place {
            ResultPlace::AfterCall => {
                let known: HashSet<_> = calls.iter().map(|call| call.key.id.as_deref()).collect();
                orphans.retain(|(_, key)| key.id.is_some() && known.contains(&key.id.as_deref()));
            }
            ResultPlace::DirectlyAfter => {}
            ResultPlace::NextMessage(replies) => {
                match history.iter().position(|message| !replies.contain(message)) {
                    Some(first) => orphans.retain(|((index, _), _)| *index > first),
                    None => orphans.clear(),
                }
            }
        }
    }
    let removed = orphans.into_iter().map(|(position, _)| position).collect();
    let ids = new_ids(rule.ids, codec.facts().ids, &calls);
    let mut answered = Vec::with_capacity(calls.len());
    for FoundCall { position, key, json, result } in calls {
        let placeholder = if result.is_none() { codec.placeholder(json, &key) } else { Value::Null };
        answered.push(Answered { call: position, result, placeholder });
    }
    set_ids(codec, history, &mut answered, ids);
    (answered, removed)
}

/// Sets the ids of calls and of their results, except for `None`.
fn set_ids(codec: &dyn Codec, history: &mut [Value], answered: &mut [Answered], ids: Vec<Option<String>>) {
    let place = codec.facts().results.place;
    for (Answered { call, result, placeholder }, id) in answered.iter_mut().zip(ids) {
        let Some(id) = id else { continue };
        if let Some(call) = part_mut(history, place, *call) {
            codec.set_id(call, &id);
        }
        let result = match result {
            Some(result) => part_mut(history, place, *result),
            None => Some(placeholder),
        };
        if let Some(result) = result {
            codec.set_id(result, &id);
        }
    }
}

/// Returns the new id of each call, or `None` if the id stays.
fn new_ids(required: RequiredIds, form: Option<IdRule>, calls: &[FoundCall<'_>]) -> Vec<Option<String>> {
    match (required, form) {
        (RequiredIds::Required, _) => {
            let given = calls.iter().map(|call| (call.json, call.key.id.as_deref()));
            ids::complete(given).into_iter().map(|id| Some(id.as_str().to_owned())).collect()
        }
        (RequiredIds::Unique, Some(IdRule { rule, .. })) => {
            let mut taken = HashSet::new();
            calls.iter().map(|call| unique_id(rule, call.key.id.as_deref(), &mut taken)).collect()
        }
        _ => vec![None; calls.len()],
    }
}

/// Returns another id if `given` is already `taken`.
fn unique_id(rule: NameRule, given: Option<&str>, taken: &mut HashSet<String>) -> Option<String> {
    let given = given?;
    if taken.insert(given.to_owned()) {
        return None;
    }
    let mut hashed = (1..).map(|salt| rule.hashed(given, salt));
    hashed.find(|id| taken.insert(id.clone()))
}

/// Returns whether the results of a turn are where the service expects them.
fn are_in_place(history: &[Value], in_call_order: bool, replies: &Replies, turn: &[Answered]) -> bool {
    let positions: Option<Vec<Position>> = turn.iter().map(|answered| answered.result).collect();
    let (Some(mut positions), Some(last)) = (positions, turn.last()) else { return false };
    if !in_call_order {
        positions.sort_unstable();
    }
    let start = last.call.0 + 1;
    if !replies.results_first {
        return positions.is_sorted()
            && positions.iter().all(|(index, _)| *index == start)
            && history.get(start).is_some_and(|message| replies.contain(message));
    }
    let mut expected = positions.into_iter().peekable();
    for (index, message) in history.iter().enumerate().skip(start) {
        if expected.peek().is_none() || !replies.contain(message) {
            break;
        }
        let count = match message.get(replies.parts) {
            Some(Value::Array(parts)) => parts.len(),
            content => usize::from(content.is_some()),
        };
        for at in 0..count {
            match expected.next() {
                Some(position) if position != (index, at) => return false,
                Some(_) => {}
                None => return true,
            }
        }
    }
    expected.next().is_none()
}

fn part_mut(history: &mut [Value], place: ResultPlace, (index, at): Position) -> Option<&mut Value> {
    let message = history.get_mut(index)?;
    match place {
        ResultPlace::NextMessage(replies) => message.get_mut(replies.parts)?.get_mut(at),
        _ => Some(message),
    }
}

/// Writes the history without the `removed` results, and with those in `due` after the message with this
/// index.
fn write(
    history: Vec<Value>,
    place: ResultPlace,
    mut due: HashMap<usize, Vec<Value>>,
    removed: &HashSet<Position>,
) -> Vec<Value> {
    let mut repaired = Vec::with_capacity(history.len());
    let mut results = Vec::new();
    for (index, mut message) in history.into_iter().enumerate() {
        let mut held_results = false;
        match place {
            ResultPlace::NextMessage(replies) => {
                if let Some(Value::Array(parts)) = message.get_mut(replies.parts) {
                    held_results = remove_parts(parts, index, removed);
                    if held_results && parts.is_empty() {
                        continue;
                    }
                }
            }
            _ if removed.contains(&(index, 0)) => continue,
            _ => {}
        }
        let calls = due.remove(&index);
        match place {
            // Parallel calls stay together.
            ResultPlace::AfterCall if calls.is_some() => {}
            ResultPlace::NextMessage(replies)
                if replies.contain(&message) && (replies.results_first || held_results) =>
            {
                put_first(&mut message, replies.parts, &mut results);
            }
            _ => repaired.extend(messages(place, std::mem::take(&mut results))),
        }
        repaired.push(message);
        results.extend(calls.into_iter().flatten());
    }
    repaired.extend(messages(place, results));
    repaired
}

/// Removes parts of the message at `index`. Returns whether there are any.
fn remove_parts(parts: &mut Vec<Value>, index: usize, removed: &HashSet<Position>) -> bool {
    let before = parts.len();
    let mut at = 0;
    parts.retain(|_| {
        at += 1;
        !removed.contains(&(index, at - 1))
    });
    parts.len() < before
}

fn put_first(message: &mut Value, field: &str, results: &mut Vec<Value>) {
    if results.is_empty() {
        return;
    }
    match message.get_mut(field).map(Value::take) {
        Some(Value::Array(mut parts)) => results.append(&mut parts),
        // In Anthropic's API, the content may be a text.
        Some(Value::String(text)) if !is_blank(&text) => results.push(json!({"type": "text", "text": text})),
        _ => {}
    }
    message[field] = std::mem::take(results).into();
}

fn messages(place: ResultPlace, results: Vec<Value>) -> Vec<Value> {
    match place {
        ResultPlace::NextMessage(replies) => user_message(replies.parts, results),
        _ => results,
    }
}

/// Creates a user message from `parts`. Without parts, the list is empty, because services refuse empty
/// messages.
pub(crate) fn user_message(field: &str, parts: Vec<Value>) -> Vec<Value> {
    if parts.is_empty() { Vec::new() } else { vec![json!({"role": "user", field: parts})] }
}

/// Lists the calls and results among the parts with indices.
pub(crate) fn part_entries<'a>(
    message: &'a Value,
    field: &str,
    entry: impl Fn(&'a Value) -> Option<Entry<'a>>,
) -> Vec<(usize, Entry<'a>)> {
    let mut entries = Vec::new();
    for (at, part) in list(message, field).iter().enumerate() {
        if let Some(entry) = entry(part) {
            entries.push((at, entry));
        }
    }
    entries
}

#[cfg(test)]
mod tests;
