//! The log of a conversation: numbered entries that wait to be saved.

use super::Entry;
use super::State;
use crate::helpers::{MAX_NESTING, append_json, lock};
use crate::output::Spent;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Mutex, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

/// The version of the format of logs, and of conversations in JSON.
pub(crate) const VERSION: u32 = 1;

/// The size of a few short entries, in bytes of JSON.
const FEW_ENTRIES: usize = 512;

#[derive(Serialize)]
struct Line<'a> {
    /// The number of the entry, from 0.
    n: u64,
    /// The time, in milliseconds since 1970.
    at: u64,
    /// The path from the outermost conversation to that of an agent called as a tool or of a parallel
    /// agent.
    #[serde(skip_serializing_if = "str::is_empty")]
    node: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    entry: &'a Entry,
}

#[derive(Deserialize)]
pub(crate) struct ReadLine {
    pub(super) n: u64,
    pub(super) at: u64,
    #[serde(default)]
    pub(super) node: String,
    pub(super) entry: Entry,
}

/// Returns the milliseconds since 1970.
pub(super) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// The log of a conversation and those nested in it.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) position: Mutex<Position>,
    /// Held during a save, so that only one runs at a time.
    pub(crate) turnstile: tokio::sync::Mutex<()>,
}

/// The position in a log, and the unsaved entries.
#[derive(Debug, Clone, Default)]
pub(crate) struct Position {
    pub(crate) store: Option<Weak<dyn Any + Send + Sync>>,
    pub(crate) version: u64,
    next: u64,
    /// The unsaved entries as JSON, separated by a space.
    pub(crate) unsaved: Vec<u8>,
    values: BTreeMap<String, Value>,
    spent: Spent,
    /// Why an entry could not be written. Nothing can be saved afterwards.
    failure: Option<String>,
}

impl Log {
    pub(super) fn push(&self, node: &str, turn: Option<u32>, entry: &Entry, at: u64) {
        lock(&self.position).push(node, turn, entry, at);
    }

    /// Adds an entry for what the run has spent, if it has changed. Counted under the lock, so that the
    /// amounts in the log never shrink.
    pub(super) fn spend(&self, spent: impl FnOnce() -> Spent) {
        let mut position = lock(&self.position);
        position.spend(spent());
    }

    pub(super) fn is_in(&self, store: &Weak<dyn Any + Send + Sync>) -> bool {
        lock(&self.position).store.as_ref().is_some_and(|own| own.ptr_eq(store))
    }
}

impl Position {
    /// Begins a log in `store` with the conversation so far.
    pub(super) fn with_snapshot(store: Weak<dyn Any + Send + Sync>, state: &State) -> Self {
        let mut position = Self { store: Some(store), ..Self::default() };
        position.push("", None, &Entry::Log { version: VERSION }, now());
        if *state != State::default() {
            position.push("", None, &Entry::Snapshot(Box::new(state.detached())), now());
        }
        position
    }

    pub(super) fn after(
        store: Weak<dyn Any + Send + Sync>,
        version: u64,
        next: u64,
        values: BTreeMap<String, Value>,
        spent: Spent,
    ) -> Self {
        Self { store: Some(store), version, next, values, spent, ..Self::default() }
    }

    pub(super) fn push(&mut self, node: &str, turn: Option<u32>, entry: &Entry, at: u64) {
        let line = Line { n: self.next, at, node, turn, entry };
        let len = self.unsaved.len();
        if len == 0 {
            self.unsaved.reserve(FEW_ENTRIES);
        } else {
            self.unsaved.push(b' ');
        }
        match append_json(&mut self.unsaved, &line, MAX_NESTING) {
            Ok(()) => {
                self.next += 1;
                if node.is_empty() {
                    self.reset_spent(entry);
                }
            }
            Err(reason) => {
                self.unsaved.truncate(len);
                self.failure.get_or_insert(reason);
            }
        }
    }

    fn spend(&mut self, spent: Spent) {
        if spent != self.spent {
            self.push("", None, &Entry::Spent(spent), now());
            self.spent = spent;
        }
    }

    fn reset_spent(&mut self, entry: &Entry) {
        match entry {
            Entry::RunBegan { .. } | Entry::Abandoned => self.spent = Spent::default(),
            Entry::Snapshot(state) => self.spent = state.spent(),
            _ => {}
        }
    }

    /// Adds entries for changed session values and what the run has spent, and takes the unsaved entries.
    ///
    /// # Errors
    /// Why an entry could not be written: it is nested too deeply to be read again.
    pub(crate) fn take(&mut self, values: BTreeMap<String, Value>, spent: Spent) -> Result<String, String> {
        self.spend(spent);
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if values != self.values {
            self.push_values(values);
            // The values can change again, so this failure may pass.
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
        }
        String::from_utf8(std::mem::take(&mut self.unsaved)).map_err(|error| error.to_string())
    }

    fn push_values(&mut self, values: BTreeMap<String, Value>) {
        let removed = self.values.keys().filter(|key| !values.contains_key(*key)).cloned().collect();
        let changed = values.iter().filter(|(key, value)| self.values.get(*key) != Some(value));
        let set = changed.map(|(key, value)| (key.clone(), value.clone())).collect();
        self.push("", None, &Entry::Values { set, removed }, now());
        if self.failure.is_none() {
            self.values = values;
        }
    }

    /// Puts entries that could not be saved before those that wait.
    pub(crate) fn restore(&mut self, entries: String) {
        if entries.is_empty() {
            return;
        }
        let later = std::mem::replace(&mut self.unsaved, entries.into_bytes());
        if !later.is_empty() {
            self.unsaved.push(b' ');
            self.unsaved.extend(later);
        }
    }
}
