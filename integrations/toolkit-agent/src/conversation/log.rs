//! The log of a conversation: numbered entries that wait to be saved.

use super::Entry;
use super::State;
use crate::helpers::{MAX_NESTING, append_json, lock, new_id};
use crate::output::Spent;
use crate::status::Summary;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

/// The version of the format of logs, and of conversations in JSON.
pub(crate) const VERSION: u32 = 1;

/// The size of a few short entries, in bytes of JSON.
const FEW_ENTRIES: usize = 512;

/// What entries after it have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    /// The number of the next entry, from 0.
    pub(super) n: u64,
    /// The time, in milliseconds since 1970.
    pub(super) at: u64,
    /// The path from the outermost conversation to that of an agent called as a tool or of a parallel
    /// agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) node: String,
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
    /// The id of the log.
    pub(crate) id: Arc<str>,
    next: u64,
    /// The unsaved entries as JSON, separated by a space, with the number of the first one.
    pub(super) unsaved: Vec<u8>,
    first: u64,
    /// The latest header of the unsaved entries.
    header: Option<Header>,
    /// The numbers of the items of the inbox that the unsaved entries have taken up.
    pub(crate) taken: Vec<u64>,
    /// The items of the inbox with decisions, by call. The entry of the decision takes one up.
    pub(crate) decisions: BTreeMap<String, u64>,
    pub(crate) summary: Arc<Summary>,
    values: BTreeMap<String, Value>,
    spent: Spent,
    /// Why an entry could not be written. Nothing can be saved afterwards.
    failure: Option<String>,
}

impl Log {
    pub(super) fn push(&self, node: &str, entry: &Entry, at: u64) {
        lock(&self.position).push(node, entry, at);
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
        let mut position = Self { store: Some(store), id: new_id(), ..Self::default() };
        position.push("", &Entry::Log { version: VERSION, id: position.id.clone() }, now());
        if let Some(source) = state.source() {
            position.push("", &Entry::Forked(source.clone()), now());
        }
        if *state != State::default() {
            position.push("", &Entry::Snapshot(Box::new(state.detached())), now());
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

    pub(super) fn push(&mut self, node: &str, entry: &Entry, at: u64) {
        let len = self.unsaved.len();
        if len == 0 {
            self.unsaved.reserve(FEW_ENTRIES);
            self.first = self.next;
        }
        // The fold knows seconds.
        let is_under = |header: &Header| header.node == node && header.at / 1_000 == at / 1_000;
        let mut written = Ok(());
        if !self.header.as_ref().is_some_and(is_under) {
            let header = Header { n: self.next, at, node: node.to_owned() };
            written = append_element(&mut self.unsaved, &header);
            self.header = Some(header);
        }
        match written.and_then(|()| append_element(&mut self.unsaved, entry)) {
            Ok(()) => {
                self.next += 1;
                if node.is_empty() {
                    self.reset_spent(entry);
                }
            }
            Err(reason) => {
                self.unsaved.truncate(len);
                self.header = None;
                self.failure.get_or_insert(reason);
            }
        }
    }

    fn spend(&mut self, spent: Spent) {
        if spent != self.spent {
            self.push("", &Entry::Spent(spent), now());
            self.spent = spent;
        }
    }

    fn reset_spent(&mut self, entry: &Entry) {
        match entry {
            Entry::RunBegan { is_attempt: false, .. }
            | Entry::Resumed
            | Entry::Abandoned
            | Entry::Rewound { .. } => {
                self.spent = Spent::default();
            }
            Entry::Snapshot(state) => self.spent = state.attempt_spent(),
            _ => {}
        }
    }

    /// Adds entries for changed session values and what the run has spent, and takes the unsaved entries.
    ///
    /// # Errors
    /// Why an entry could not be written: it is nested too deeply to be read again.
    pub(crate) fn take(&mut self, values: BTreeMap<String, Value>, spent: Spent) -> Result<Unsaved, String> {
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
        self.header = None;
        let taken = mem::take(&mut self.taken);
        let entries = String::from_utf8(mem::take(&mut self.unsaved)).map_err(|error| error.to_string())?;
        Ok(Unsaved { entries, first: self.first, taken, summary: self.summary.clone() })
    }

    fn push_values(&mut self, values: BTreeMap<String, Value>) {
        let removed = self.values.keys().filter(|key| !values.contains_key(*key)).cloned().collect();
        let changed = values.iter().filter(|(key, value)| self.values.get(*key) != Some(value));
        let set = changed.map(|(key, value)| (key.clone(), value.clone())).collect();
        self.push("", &Entry::Values { set, removed }, now());
        if self.failure.is_none() {
            self.values = values;
        }
    }

    /// Returns the number of saved entries.
    pub(super) fn saved(&self) -> u64 {
        if self.unsaved.is_empty() { self.next } else { self.first }
    }

    /// Puts entries that could not be saved before those that wait.
    pub(crate) fn restore(&mut self, unsaved: Unsaved) {
        let Unsaved { entries, first, taken, .. } = unsaved;
        self.first = first;
        self.taken.extend(taken);
        let later = mem::replace(&mut self.unsaved, entries.into_bytes());
        if !later.is_empty() {
            self.unsaved.push(b' ');
            self.unsaved.extend(later);
        }
    }
}

/// The entries of a save, with what a store needs for it.
#[derive(Debug, Default)]
pub(crate) struct Unsaved {
    pub(crate) entries: String,
    pub(crate) first: u64,
    pub(crate) taken: Vec<u64>,
    pub(crate) summary: Arc<Summary>,
}

fn append_element(unsaved: &mut Vec<u8>, element: &impl Serialize) -> Result<(), String> {
    if !unsaved.is_empty() {
        unsaved.push(b' ');
    }
    append_json(unsaved, element, MAX_NESTING)
}
