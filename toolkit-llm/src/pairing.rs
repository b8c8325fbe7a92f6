//! Pairs calls with their results. The same rule applies to all APIs.
//!
//! A result answers an earlier call that has the same id and no result yet. In APIs in which results refer to
//! calls by name, the names are compared if the call or the result has no id. In these APIs, a result with
//! neither id nor name matches any call. If several calls match, the result belongs to the latest turn with a
//! matching call, and within this turn to the first matching call.

use serde_json::Value;
use std::borrow::Cow;

/// The content of a placeholder result. Such a result is added for a call that has none.
pub(crate) const NO_OUTPUT: &str = "[No output available yet]";

/// The id and the name in a call or in a result. They are used to find the call that a result answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallKey<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    /// The tool name. Only set for APIs in which results refer to calls by name.
    pub(crate) name: Option<&'a str>,
}

impl<'a> CallKey<'a> {
    /// Creates the key of an API in which results refer to calls by id. A missing id counts as an empty id, because
    /// some servers give ids neither to calls nor to results.
    pub(crate) fn of_id(id: Option<Cow<'a, str>>) -> Self {
        Self { id: Some(id.unwrap_or_default()), name: None }
    }
}

/// A call or a result in a message of a history.
#[derive(Debug)]
pub(crate) enum Entry<'a> {
    Call(CallKey<'a>, &'a Value),
    Result(CallKey<'a>, &'a Value),
}

/// The calls that have no result so far.
#[derive(Debug, Default)]
pub(crate) struct Pairing<'a> {
    count: usize,
    turn: usize,
    waiting: Vec<WaitingCall<'a>>,
}

#[derive(Debug)]
struct WaitingCall<'a> {
    number: usize,
    turn: usize,
    key: CallKey<'a>,
}

impl<'a> Pairing<'a> {
    /// Begins a new turn. Results prefer the calls of later turns.
    pub(crate) fn begin_turn(&mut self) {
        self.turn += 1;
    }

    /// Adds a call and returns its index among all calls added so far.
    pub(crate) fn call(&mut self, key: CallKey<'a>) -> usize {
        let number = self.count;
        self.count += 1;
        self.waiting.push(WaitingCall { number, turn: self.turn, key });
        number
    }

    /// Returns the index of the call answered by a result with this key. Returns `None` if no call matches.
    pub(crate) fn result(&mut self, key: &CallKey<'_>) -> Option<usize> {
        let has_name =
            |call: &CallKey<'_>| call.name.is_some() && key.name.is_none_or(|name| call.name == Some(name));
        if key.id.is_none() {
            return self.take(has_name);
        }
        self.take(|call| call.id == key.id)
            .or_else(|| self.take(|call| key.name.is_some() && call.id.is_none() && has_name(call)))
    }

    fn take(&mut self, is_match: impl Fn(&CallKey<'_>) -> bool) -> Option<usize> {
        let turn = self.waiting.iter().rfind(|call| is_match(&call.key))?.turn;
        let first = self.waiting.iter().position(|call| call.turn == turn && is_match(&call.key))?;
        Some(self.waiting.remove(first).number)
    }
}
