//! Pairs calls with results, by one rule for all APIs.
//!
//! A result answers an earlier call that has the same id and no result yet. In APIs in which results refer to
//! calls by name, names count if the call or the result has no id, and a result with neither matches any
//! call. If several calls match, the result belongs to the latest turn with one, and there to the first.

use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// The content of a result that is added for a call.
pub(crate) const NO_OUTPUT: &str = "[No output available yet]";

/// The id and the name of a call or result, which pair them.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallKey<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    /// Only set for APIs in which results refer to calls by name.
    pub(crate) name: Option<&'a str>,
}

impl<'a> CallKey<'a> {
    /// Creates the key of an API in which results refer to calls by id. A missing id counts as empty, because
    /// some servers give none.
    pub(crate) fn of_id(id: Option<Cow<'a, str>>) -> Self {
        Self { id: Some(id.unwrap_or_default()), name: None }
    }
}

#[derive(Debug)]
pub(crate) enum Entry<'a> {
    Call(CallKey<'a>, &'a Value),
    Result(CallKey<'a>, &'a Value),
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Handle<'a> {
    Id(Cow<'a, str>),
    Name(&'a str),
    /// The name of a call without an id.
    NameOnly(&'a str),
    /// Any call, in an API in which results refer to calls by name.
    Any,
}

/// The calls without a result, found by key in constant time, each with the index of its turn.
#[derive(Debug, Default)]
pub(crate) struct Pairing<'a> {
    is_answered: Vec<bool>,
    turn: usize,
    waiting: HashMap<Handle<'a>, Vec<(usize, VecDeque<usize>)>>,
}

impl<'a> Pairing<'a> {
    /// Begins a turn, whose calls are preferred to earlier ones.
    pub(crate) fn begin_turn(&mut self) {
        self.turn += 1;
    }

    /// Adds a call and returns its index among all calls.
    pub(crate) fn call(&mut self, key: CallKey<'a>) -> usize {
        let number = self.is_answered.len();
        self.is_answered.push(false);
        if let Some(name) = key.name {
            self.wait(Handle::Name(name), number);
            self.wait(Handle::Any, number);
            if key.id.is_none() {
                self.wait(Handle::NameOnly(name), number);
            }
        }
        if let Some(id) = key.id {
            self.wait(Handle::Id(id), number);
        }
        number
    }

    fn wait(&mut self, handle: Handle<'a>, number: usize) {
        let turns = self.waiting.entry(handle).or_default();
        match turns.last_mut() {
            Some((turn, calls)) if *turn == self.turn => calls.push_back(number),
            _ => turns.push((self.turn, VecDeque::from([number]))),
        }
    }

    /// Returns the index of the call that a result with this key answers.
    pub(crate) fn result(&mut self, key: CallKey<'a>) -> Option<usize> {
        let Some(id) = key.id else {
            return self.take(&key.name.map_or(Handle::Any, Handle::Name));
        };
        if let Some(number) = self.take(&Handle::Id(id)) {
            return Some(number);
        }
        self.take(&Handle::NameOnly(key.name?))
    }

    fn take(&mut self, handle: &Handle<'a>) -> Option<usize> {
        let turns = self.waiting.get_mut(handle)?;
        while let Some((_, calls)) = turns.last_mut() {
            while let Some(number) = calls.pop_front() {
                match self.is_answered.get_mut(number) {
                    Some(is_answered) if !*is_answered => {
                        *is_answered = true;
                        return Some(number);
                    }
                    _ => {}
                }
            }
            turns.pop();
        }
        None
    }
}
