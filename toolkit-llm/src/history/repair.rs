//! Repairs histories, so that every call has one result, at a position that the API accepts. The rule of an API
//! is a [`ResultRule`](crate::facts::result_rule::ResultRule).

use super::results::is_blank;
use crate::call::ids;
use crate::call::pairing::{CallKey, Entry, Pairing};
use crate::codec::Codec;
use crate::facts::IdRule;
use crate::facts::result_rule::{Replies, RequiredIds, ResultPlace};
use crate::json::fields::list;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// The position of a call or a result: the index of its message, and the index among the parts of this message.
type Position = (usize, usize);

/// A call as it was found in a history.
struct FoundCall<'a> {
    position: Position,
    key: CallKey<'a>,
    json: &'a Value,
    result: Option<Position>,
}

/// A call and its result.
struct Answered {
    call: Position,
    result: Option<Position>,
    /// The result to add if the history has none.
    placeholder: Value,
}

/// Moves results to the positions that the API accepts, adds missing results, and removes results without a call.
///
/// If the request continues a conversation that the service stores (`is_continued`), results of calls that only the
/// service can have stay.
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
        let results = turn.iter_mut().filter_map(|answered| match answered.result {
            None => Some(answered.placeholder.take()),
            Some(_) if stay => None,
            Some(result) => {
                removed.insert(result);
                part_mut(&mut history, rule.place, result).map(Value::take)
            }
        });
        due.insert(message, results.collect());
    }
    write(history, rule.place, due, &removed)
}

/// Pairs calls with results, and gives calls the ids that the API requires. Returns the calls, and the positions of the
/// results to remove because they have no call.
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
                let known: HashSet<_> = calls.iter().filter_map(|call| call.key.id.as_deref()).collect();
                orphans.retain(|(_, key)| key.id.as_deref().is_some_and(|id| known.contains(id)));
            }
            ResultPlace::DirectlyAfter => {}
            ResultPlace::NextMessage(replies) => {
                let first = history.iter().position(|message| !replies.contain(message));
                orphans.retain(|((index, _), _)| first.is_some_and(|first| *index > first));
            }
        }
    }
    let removed = orphans.into_iter().map(|(position, _)| position).collect();
    let ids = new_ids(rule.ids, codec.facts().ids, &calls);
    let answered = calls.into_iter().map(|FoundCall { position, key, json, result }| {
        let placeholder = if result.is_none() { codec.placeholder(json, &key) } else { Value::Null };
        Answered { call: position, result, placeholder }
    });
    let mut answered: Vec<Answered> = answered.collect();
    set_ids(codec, history, &mut answered, ids);
    (answered, removed)
}

/// Sets the ids of calls and of their results. The id `None` stays.
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

/// Returns the id of each call in the repaired history, or `None` if the id stays.
fn new_ids(required: RequiredIds, form: Option<IdRule>, calls: &[FoundCall<'_>]) -> Vec<Option<String>> {
    let given = calls.iter().map(|call| (call.json, call.key.id.as_deref()));
    match (required, form) {
        (RequiredIds::Required, _) => {
            ids::complete(given).into_iter().map(|id| Some(id.as_str().to_owned())).collect()
        }
        (RequiredIds::Unique, Some(IdRule { rule, .. })) => {
            let mut taken: HashSet<String> = HashSet::new();
            let new = |(_, given): (&Value, Option<&str>)| {
                let given = given?;
                let hashed = (1..).map(|salt| rule.hashed(given, salt));
                let id = std::iter::once(given.to_owned()).chain(hashed).find(|id| !taken.contains(id))?;
                taken.insert(id.clone());
                (id != given).then_some(id)
            };
            given.map(new).collect()
        }
        _ => vec![None; calls.len()],
    }
}

/// Returns whether the results of a turn are in the messages after its calls, as the service expects.
fn are_in_place(history: &[Value], in_call_order: bool, replies: &Replies, turn: &[Answered]) -> bool {
    let positions: Option<Vec<Position>> = turn.iter().map(|answered| answered.result).collect();
    let (Some(mut positions), Some(last)) = (positions, turn.last()) else { return false };
    if !in_call_order {
        positions.sort_unstable();
    }
    let start = last.call.0 + 1;
    let messages = history.iter().enumerate().skip(start).take_while(|(_, message)| replies.contain(message));
    if !replies.results_first {
        let is_first = |position: &Position| position.0 == start;
        return positions.is_sorted() && positions.iter().all(is_first) && messages.count() > 0;
    }
    let parts = messages.flat_map(|(index, message)| {
        let count = match message.get(replies.parts) {
            Some(Value::Array(parts)) => parts.len(),
            // A text stands before the results, too.
            content => usize::from(content.is_some()),
        };
        (0..count).map(move |at| (index, at))
    });
    parts.take(positions.len()).eq(positions)
}

fn part_mut(history: &mut [Value], place: ResultPlace, (index, at): Position) -> Option<&mut Value> {
    let message = history.get_mut(index)?;
    match place {
        ResultPlace::NextMessage(replies) => message.get_mut(replies.parts)?.get_mut(at),
        _ => Some(message),
    }
}

/// Writes the repaired history: without the `removed` results, and with the results in `due` after the message with
/// this index.
fn write(
    history: Vec<Value>,
    place: ResultPlace,
    mut due: HashMap<usize, Vec<Value>>,
    removed: &HashSet<Position>,
) -> Vec<Value> {
    let mut repaired = Vec::with_capacity(history.len());
    let mut results = Vec::new();
    for (index, mut message) in history.into_iter().enumerate() {
        let held_results = match place {
            ResultPlace::NextMessage(replies) => match message.get_mut(replies.parts) {
                Some(Value::Array(parts)) => {
                    let before = parts.len();
                    let mut positions = (0..).map(|at| (index, at));
                    parts.retain(|_| positions.next().is_none_or(|position| !removed.contains(&position)));
                    if parts.is_empty() && before > 0 {
                        continue;
                    }
                    parts.len() < before
                }
                _ => false,
            },
            _ if removed.contains(&(index, 0)) => continue,
            _ => false,
        };
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

/// Moves `results` before the other parts of a message.
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

/// Creates a user message from `parts`, as a list with one message. If there are no parts, the list is empty,
/// because services refuse empty messages.
pub(crate) fn user_message(field: &str, parts: Vec<Value>) -> Vec<Value> {
    if parts.is_empty() { Vec::new() } else { vec![json!({"role": "user", field: parts})] }
}

/// Lists the calls and results among the parts of a message, each with its index.
pub(crate) fn part_entries<'a>(
    message: &'a Value,
    field: &str,
    entry: impl Fn(&'a Value) -> Option<Entry<'a>>,
) -> Vec<(usize, Entry<'a>)> {
    let parts = list(message, field).iter().enumerate();
    parts.filter_map(|(at, part)| Some((at, entry(part)?))).collect()
}

#[cfg(test)]
mod tests;
