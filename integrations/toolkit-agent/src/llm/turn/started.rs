//! The order of the calls of a message, after some of them have started.

use std::cell::Cell;
use std::collections::HashMap;
use toolkit_core::{CallId, ToolCall};

/// Moves the `started` calls to the beginning of `calls`, and adds those that it lacks. Calls with the same
/// id and name are the same. Returns whether a call was added.
pub(super) fn put_first(started: &[ToolCall], calls: &mut Vec<ToolCall>) -> bool {
    if started.is_empty() {
        return false;
    }
    // The model usually repeats the calls in the same order.
    let mut in_order = 0;
    for (one, other) in started.iter().zip(&*calls) {
        if one.id != other.id || one.name != other.name {
            break;
        }
        in_order += 1;
    }
    let mut missing: HashMap<(&CallId, &str), Cell<usize>> = HashMap::new();
    for call in started.iter().skip(in_order) {
        missing.entry((&call.id, &call.name)).or_default().update(|count| count + 1);
    }
    let count = calls.len();
    calls.drain(..in_order);
    calls.retain(|call| !take_missing(&missing, call));
    calls.splice(..0, started.iter().cloned());
    calls.len() > count
}

/// Returns whether `missing` counts a call, and counts it no longer.
fn take_missing(missing: &HashMap<(&CallId, &str), Cell<usize>>, call: &ToolCall) -> bool {
    match missing.get(&(&call.id, call.name.as_str())) {
        Some(count) if count.get() > 0 => count.set(count.get() - 1),
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares `put_first` with a simple search for each call, in lists with few ids and many repetitions.
    #[test]
    fn started_calls_are_first_and_complete() {
        let mut random = 1_u64;
        let mut list = || -> Vec<ToolCall> {
            let mut next = |below: u64| {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) % below
            };
            let call = |(id, name): (u64, u64)| ToolCall::new(id.to_string(), name.to_string(), "{}");
            (0..next(6)).map(|_| call((next(3), next(2)))).collect()
        };
        for _ in 0..2_000 {
            let started = list();
            let sent = list();
            let mut rest: Vec<ToolCall> = sent.clone();
            for call in &started {
                if let Some(same) = rest.iter().position(|other| other == call) {
                    drop(rest.remove(same));
                }
            }
            let expected = [started.clone(), rest].concat();
            let mut calls = sent.clone();
            let is_longer = put_first(&started, &mut calls);
            assert_eq!((&calls, is_longer), (&expected, expected.len() > sent.len()), "{started:?} {sent:?}");
        }
    }
}
