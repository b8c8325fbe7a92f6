//! Repairs histories in which results follow their calls. The results are separate messages, or part of the
//! message after the calls.

use crate::facts::IdRule;
use crate::fields::list;
use crate::pairing::{Entry, Pair, pair};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};

/// Describes the replies in one API. A reply is a message that is not from the model, such as a message with results.
pub(crate) trait Replies {
    /// The field for the parts of a message.
    const PARTS: &'static str;

    /// Returns whether a message is a reply. Every message that is not from the model is a reply.
    fn is_reply(message: &Value) -> bool;

    /// Lists the calls and results of a message.
    fn entries(message: &Value) -> Vec<Entry<'_>>;

    fn is_result(part: &Value) -> bool;

    /// Creates the result for an unanswered call.
    fn no_output(call: &Pair<'_>) -> Value;

    /// Returns whether these replies need no repair. This is the case if `replies` contain exactly the
    /// results of the calls before them, at the positions that the service expects. `results` are the results
    /// after the repair.
    fn is_answered(results: &[Value], replies: &[Value]) -> bool;

    /// Takes the parts other than results out of a reply. The repair writes these parts into the same message, after
    /// the results. Returns `None` if the results must be in a separate message.
    ///
    /// `held_results` is `true` if the reply is the first one and contained results before the repair.
    fn parts_beside(reply: &mut Value, held_results: bool) -> Option<Vec<Value>>;
}

/// Moves results into the replies after their calls, adds missing results, and removes results without a
/// call.
pub(crate) fn repair<R: Replies>(history: Vec<Value>) -> Vec<Value> {
    let result =
        |pair: &Pair<'_>| pair.result.map_or_else(|| R::no_output(pair), |(_, result)| result.clone());
    let turns = pair(&history, R::entries).into_iter();
    let turns: Vec<Vec<Value>> = turns.map(|pairs| pairs.iter().map(result).collect()).collect();
    let mut repaired = Vec::with_capacity(history.len());
    let mut messages = history.into_iter().zip(turns).peekable();
    while let Some((message, results)) = messages.next() {
        let mut replies = Vec::new();
        if R::is_reply(&message) {
            replies.push(message);
        } else {
            repaired.push(message);
        }
        while let Some((reply, _)) = messages.next_if(|(next, _)| R::is_reply(next)) {
            replies.push(reply);
        }
        if R::is_answered(&results, &replies) {
            repaired.append(&mut replies);
        } else {
            repaired.extend(answer::<R>(results, replies));
        }
    }
    repaired
}

/// Gives every call of a repaired history an id that no earlier call has, and its result the same id. Anthropic's
/// models refuse a request in which an id occurs twice, but other servers count the calls of each turn from zero.
///
/// `id` returns the id in a part that is a call or a result, and `ids` is the rule for new ids.
pub(crate) fn distinct_ids<R: Replies>(
    history: &mut [Value],
    ids: Option<IdRule>,
    id: impl Fn(&mut Value) -> Option<&mut Value>,
) {
    let Some(IdRule { rule, .. }) = ids else { return };
    let mut taken: HashSet<String> = HashSet::new();
    let mut turn: HashMap<String, VecDeque<String>> = HashMap::new();
    for message in history {
        let is_reply = R::is_reply(message);
        if !is_reply {
            turn.clear();
        }
        let Some(Value::Array(parts)) = message.get_mut(R::PARTS) else { continue };
        let parts = parts.iter_mut().filter(|part| R::is_result(part) == is_reply);
        for found in parts.filter_map(&id) {
            let Some(given) = found.as_str().map(ToOwned::to_owned) else { continue };
            let new = if is_reply {
                turn.get_mut(&given).and_then(VecDeque::pop_front)
            } else {
                let hashed = (1..).map(|salt| rule.hashed(&given, salt));
                let new = std::iter::once(given.clone()).chain(hashed).find(|id| !taken.contains(id));
                taken.extend(new.clone());
                turn.entry(given.clone()).or_default().extend(new.clone());
                new
            };
            if let Some(new) = new.filter(|new| *new != given) {
                *found = new.into();
            }
        }
    }
}

/// Writes `results` into the replies after a message with calls, and returns the replies. All other results
/// are removed from the replies.
fn answer<R: Replies>(mut results: Vec<Value>, replies: Vec<Value>) -> Vec<Value> {
    let mut answered = Vec::with_capacity(replies.len() + 1);
    for (index, reply) in replies.into_iter().enumerate() {
        let (Some(mut reply), held_results) = without_results::<R>(reply) else { continue };
        if !results.is_empty() {
            match R::parts_beside(&mut reply, held_results && index == 0) {
                Some(parts) => {
                    results.extend(parts);
                    reply[R::PARTS] = std::mem::take(&mut results).into();
                }
                None => answered.extend(user_message(R::PARTS, std::mem::take(&mut results))),
            }
        }
        answered.push(reply);
    }
    answered.extend(user_message(R::PARTS, results));
    answered
}

/// Removes the results from a message. Returns the message, or `None` if it contained only results, and
/// whether it contained any results.
pub(crate) fn without_results<R: Replies>(mut message: Value) -> (Option<Value>, bool) {
    let Some(Value::Array(parts)) = message.get_mut(R::PARTS) else { return (Some(message), false) };
    let before = parts.len();
    parts.retain(|part| !R::is_result(part));
    let held_results = parts.len() < before;
    let is_empty = parts.is_empty();
    ((!held_results || !is_empty).then_some(message), held_results)
}

/// Returns the results among the parts of a message.
pub(crate) fn results<R: Replies>(message: &Value) -> impl Iterator<Item = &Value> {
    list(message, R::PARTS).iter().filter(|part| R::is_result(part))
}

/// Rewrites a history of a format that has a separate message for each result. The function `results` creates the
/// results for the calls of a message. They are inserted directly after this message, and all other results are
/// removed.
pub(crate) fn directly_after(
    history: Vec<Value>,
    entries: impl Fn(&Value) -> Vec<Entry<'_>>,
    is_result: impl Fn(&Value) -> bool,
    results: impl Fn(Vec<Pair<'_>>) -> Vec<Value>,
) -> Vec<Value> {
    let results: Vec<Vec<Value>> = pair(&history, entries).into_iter().map(results).collect();
    let mut repaired = Vec::with_capacity(history.len());
    for (message, results) in history.into_iter().zip(results) {
        if !is_result(&message) {
            repaired.push(message);
        }
        repaired.extend(results);
    }
    repaired
}

/// Creates a user message from `parts`, as a list with one message. If there are no parts, the list is empty,
/// because services refuse empty messages.
pub(crate) fn user_message(field: &str, parts: Vec<Value>) -> Vec<Value> {
    if parts.is_empty() { Vec::new() } else { vec![json!({"role": "user", field: parts})] }
}

#[cfg(test)]
mod tests;
