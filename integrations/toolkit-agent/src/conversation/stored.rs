//! Conversations as JSON and as logs.

use super::Entry;
use super::log::Header;
use super::{Conversation, OwnLog, State};
use super::{Log, Position, VERSION};
use crate::helpers::lock;
use crate::pending::Decision;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use toolkit_core::__private::{grant, target_of};
use toolkit_core::Session;
use toolkit_core::error::Pending;

#[derive(Deserialize)]
pub(super) struct Stored {
    #[serde(default)]
    version: u32,
    id: String,
    #[serde(default)]
    user: String,
    #[serde(default)]
    values: BTreeMap<String, Value>,
    #[serde(default)]
    state: State,
}

#[derive(Serialize)]
struct StoredRef<'a> {
    version: u32,
    id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    user: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, Value>,
    state: &'a State,
}

impl Serialize for Conversation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let detached = self.state.has_branches().then(|| self.state.detached());
        let values = self.session.store().snapshot();
        let state = detached.as_ref().unwrap_or(&self.state);
        StoredRef { version: VERSION, id: &self.id, user: &self.user_id, values, state }.serialize(serializer)
    }
}

impl TryFrom<Stored> for Conversation {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        check_version(stored.version)?;
        let session = Session::default().with_store(stored.values.into_iter().collect());
        let state = stored.state.attached();
        Ok(Self { id: stored.id.into(), user_id: stored.user, state, session, ..Self::default() })
    }
}

const OLD: &str =
    "it was saved by an unreleased version of toolkit-agent, whose format is not read; delete it";

fn check_version(version: u32) -> Result<(), String> {
    match version {
        VERSION => Ok(()),
        0 => Err(OLD.to_owned()),
        newer => Err(format!(
            "it has version {newer} of the format, and this version of toolkit-agent reads version {VERSION}; read it \
             with a newer one"
        )),
    }
}

/// Returns the name of an entry: its only field, or the entry itself without data.
fn entry_name(entry: &Value) -> Option<&str> {
    if let Some(name) = entry.as_str() {
        return Some(name);
    }
    entry.as_object()?.keys().next().map(String::as_str)
}

fn unreadable(number: u64, name: &str, error: &serde_json::Error) -> String {
    let error = error.to_string();
    if error.starts_with(&format!("unknown variant `{name}`")) {
        return format!(
            "this version of toolkit-agent knows no entry `{name}`, which entry {number} is; read it with a newer version"
        );
    }
    format!("entry {number} is damaged: {error}")
}

/// Reads the entries of a log, one save after the other.
#[derive(Default)]
pub(crate) struct LogReader {
    /// The number of the next entry.
    pub(super) next: u64,
    header: Option<Header>,
    /// The id of the log, once its first entry was read.
    pub(crate) id: Arc<str>,
}

impl LogReader {
    /// Returns the number of the next entry.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Reads the entries of a save.
    ///
    /// # Errors
    /// As those of [`read_save`](Self::read_save).
    pub(crate) fn entries(&mut self, save: &str) -> Result<Vec<ReadEntry>, String> {
        let mut entries = Vec::new();
        self.read_save(save, |entry| {
            entries.push(entry);
            Ok(())
        })?;
        Ok(entries)
    }

    /// Reads the entries of a save with their numbers, and gives each to `read`.
    ///
    /// # Errors
    /// A message if the log has another format, or if an entry is missing, repeated or damaged.
    pub(crate) fn read_save(
        &mut self,
        save: &str,
        mut read: impl FnMut(ReadEntry) -> Result<(), String>,
    ) -> Result<(), String> {
        self.header = None;
        for element in serde_json::Deserializer::from_str(save).into_iter::<Value>() {
            let element = element.map_err(|error| error.to_string())?;
            if element.get("n").is_some() {
                self.read_header(element)?;
                continue;
            }
            let number = self.next;
            let Some(Header { at, node, .. }) = self.header.as_ref() else {
                return Err(OLD.to_owned());
            };
            let (at, node) = (*at, node.clone());
            if number == 0 {
                let version = element.pointer("/log/version").and_then(Value::as_u64).unwrap_or_default();
                check_version(u32::try_from(version).unwrap_or(u32::MAX))?;
            }
            let name = entry_name(&element).unwrap_or_default().to_owned();
            let entry = serde_json::from_value(element).map_err(|error| unreadable(number, &name, &error))?;
            if let Entry::Log { id, .. } = &entry {
                if number == 0 {
                    self.id = id.clone();
                    self.next += 1;
                    continue;
                }
                return Err(format!(
                    "entry {number} begins another log, so two logs are in one; restore it from a copy"
                ));
            }
            self.next += 1;
            read(ReadEntry { number, at, node, entry })?;
        }
        Ok(())
    }

    fn read_header(&mut self, element: Value) -> Result<(), String> {
        if element.get("entry").is_some() {
            return Err(OLD.to_owned());
        }
        let number = self.next;
        let header: Header = serde_json::from_value(element)
            .map_err(|error| format!("the header of entry {number} is damaged: {error}"))?;
        if header.n != number {
            return Err(format!("entry {number} of its log is missing; entry {} is in its place", header.n));
        }
        self.header = Some(header);
        Ok(())
    }
}

/// An entry of a log that was read.
pub(crate) struct ReadEntry {
    pub(crate) number: u64,
    /// The time, in milliseconds since 1970.
    pub(crate) at: u64,
    pub(crate) node: String,
    pub(crate) entry: Entry,
}

impl Conversation {
    /// Reads a conversation from the saves of a log in `store`.
    ///
    /// # Errors
    /// A message if the log has another format, or if an entry is missing, repeated or damaged.
    pub(crate) fn read(
        id: &str,
        saves: &[String],
        store: Weak<dyn Any + Send + Sync>,
        version: u64,
    ) -> Result<Self, String> {
        let mut conversation = Self::new(id);
        let mut reader = LogReader::default();
        for save in saves {
            for entry in reader.entries(save)? {
                conversation.replay(entry);
            }
        }
        conversation.state.note_entries();
        let values = conversation.session.store().snapshot();
        let spent = conversation.state.attempt_spent();
        let mut position = Position::after(store, version, reader.next, values, spent);
        position.id = reader.id;
        position.summary = conversation.summary().unwrap_or_default();
        conversation.log = OwnLog(Some(Arc::new(Log { position: Mutex::new(position), ..Log::default() })));
        Ok(conversation)
    }

    pub(super) fn replay(&mut self, ReadEntry { at, node, entry, .. }: ReadEntry) {
        if let Entry::Values { set, removed } = &entry {
            set.iter().for_each(|(key, value)| self.session.store().set(key.as_str(), value.clone()));
            removed.iter().for_each(|key| self.session.store().remove(key));
        }
        if let Entry::Decided { call, decision: Some(Decision::ApproveForSession), .. } = &entry {
            self.grant(&node, *call);
        }
        self.state.apply_at(&node, entry, at / 1_000);
    }

    /// Approves later calls of a tool, because its pending call was approved for the session.
    fn grant(&self, node: &str, position: usize) {
        let Some(turn) = self.state.at_node(node).and_then(|state| state.turn.as_ref()) else { return };
        let Some(call) = turn.message().calls.get(position) else { return };
        if let Some(Pending::Approval { reason, .. }) = turn.pending(position) {
            grant(&self.session, &target_of(call), reason);
        }
    }

    /// Returns the position in a log that contains only the conversation as it is.
    pub(crate) fn snapshot(&self, store: &Weak<dyn Any + Send + Sync>) -> Position {
        Position::with_snapshot(store.clone(), &self.state)
    }

    /// Returns the conversation's log in `store`, or begins one with the conversation so far.
    pub(crate) fn log_in(&mut self, store: &Weak<dyn Any + Send + Sync>) -> Arc<Log> {
        if let Some(log) = self.log.0.as_ref().filter(|log| log.is_in(store)) {
            return log.clone();
        }
        let log = Arc::new(Log { position: Mutex::new(self.snapshot(store)), ..Log::default() });
        self.log = OwnLog(Some(log.clone()));
        log
    }

    pub(crate) fn save_in(&mut self, log: &Arc<Log>) {
        if self.is_saved_in(log) {
            return;
        }
        self.log = OwnLog(Some(log.clone()));
        if self.state != State::default() {
            self.record(Entry::Snapshot(Box::new(self.state.detached())));
        }
    }

    pub(crate) fn is_saved_in(&self, log: &Arc<Log>) -> bool {
        self.log.0.as_ref().is_some_and(|own| Arc::ptr_eq(own, log))
    }
}

impl Log {
    /// Returns a log with the same position.
    pub(super) fn copied(&self) -> Self {
        Self { position: Mutex::new(lock(&self.position).clone()), ..Self::default() }
    }
}
