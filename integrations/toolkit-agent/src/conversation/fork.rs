//! Forks: conversations that begin as another one does, up to one of its inputs.

use super::stored::{LogReader, ReadEntry};
use super::{Conversation, Entry, State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolkit_core::__private::target_of;
use toolkit_core::error::Pending;
use toolkit_core::{ErrorKind, ToolCall, ToolResult};
use toolkit_llm::Message;

/// The input of a conversation before which a fork leaves it.
///
/// It is made from the index of a message, and from an id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForkPoint {
    /// Before the input at this index of the [messages](Conversation::messages).
    Message(usize),
    /// Before the input with this id: that of its run, or the one that the client gave to the message.
    Input(String),
    /// After all messages.
    End,
}

impl From<usize> for ForkPoint {
    fn from(index: usize) -> Self {
        Self::Message(index)
    }
}

impl From<&str> for ForkPoint {
    fn from(id: &str) -> Self {
        Self::Input(id.to_owned())
    }
}

impl From<String> for ForkPoint {
    fn from(id: String) -> Self {
        Self::Input(id)
    }
}

/// A tool call that may have run in a part of a log that the conversation does not have: after the point of a
/// fork, or in a damaged save.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EarlierCall {
    /// The key of the call in that log, as in [`PendingCall::id`](crate::PendingCall::id). Empty if it is
    /// unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The tool call.
    pub call: ToolCall,
    /// When it began, in seconds since 1970, or 0 if it is unknown.
    #[serde(default)]
    pub at: u64,
}

impl EarlierCall {
    /// Creates a call whose key is unknown.
    pub(crate) fn unplaced(call: ToolCall, at: u64) -> Self {
        Self { id: String::new(), call, at }
    }
}

/// An entry in the log of another conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForkSource {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) user: String,
    pub(super) id: String,
    /// The id of the log.
    #[serde(with = "crate::helpers::shared_text")]
    pub(super) log: Arc<str>,
    /// The number of the first entry that the fork does not have.
    pub(super) entry: u64,
}

/// What a conversation knows of logs that it does not have.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Origin {
    /// The conversation from which this one was forked, then that one's, and so on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) sources: Vec<ForkSource>,
    /// The earlier calls of tools that have not been called again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<EarlierCall>,
}

impl Origin {
    /// Returns the origin of a called or parallel agent's conversation.
    pub(super) fn of_called(&self) -> Self {
        Self { sources: Vec::new(), calls: self.calls.clone() }
    }

    /// Returns the ids of the conversations from which this one was forked.
    pub(super) fn source_ids(&self) -> Vec<String> {
        self.sources.iter().map(|source| source.id.clone()).collect()
    }

    /// Returns whether the tool of a call has earlier calls.
    pub(super) fn has(&self, call: &ToolCall) -> bool {
        self.calls.iter().any(|earlier| target_of(&earlier.call) == target_of(call))
    }

    /// Forgets the earlier calls of the tool of a call.
    pub(super) fn forget(&mut self, call: &ToolCall) {
        let tool = target_of(call);
        self.calls.retain(|earlier| target_of(&earlier.call) != tool);
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// An input between turns, before which a fork may begin.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct InputMark {
    /// The index of the message.
    pub(super) index: usize,
    /// The id of the run.
    #[serde(skip_serializing_if = "str::is_empty", with = "crate::helpers::shared_text")]
    pub(super) run: Arc<str>,
    /// The id that the client gave to the message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) message: String,
}

/// The place of a fork in the log of its source.
struct Cut {
    /// The number of the first entry that the fork does not have.
    entry: u64,
    /// The number of later inputs in the same entry, which then is a snapshot.
    later: usize,
}

/// What a fork begins with.
struct ForkStart {
    state: State,
    values: BTreeMap<String, Value>,
}

impl Conversation {
    /// Returns the fork with the id `fork_id` of the conversation of this user and id with these saves.
    ///
    /// # Errors
    /// A message if the log cannot be read, or if the fork would begin inside of a run.
    pub(crate) fn forked(
        (user, id): (&str, &str),
        saves: &[String],
        before: &ForkPoint,
        fork_id: &str,
    ) -> Result<Self, String> {
        let cut = find_cut(saves, before)?;
        let mut whole = Self::default();
        let mut reader = LogReader::default();
        let mut start = None;
        let mut calls = Vec::new();
        for save in saves {
            for read in reader.entries(save)? {
                let is_cut = read.number == cut.entry;
                let is_snapshot = matches!(read.entry, Entry::Snapshot(_));
                if is_cut && !is_snapshot {
                    start = Some(whole.fork_start(read.at / 1_000));
                }
                if start.is_some() {
                    note_calls(&whole.state, &read, &mut calls);
                }
                whole.replay(read);
                if is_cut && is_snapshot {
                    calls = whole.state.calls_after(cut.later);
                    let mut cut_off = whole.clone();
                    cut_off.state.remove_last_inputs(cut.later);
                    start = Some(cut_off.fork_start(0));
                }
            }
        }
        let ForkStart { state, values } =
            start.unwrap_or_else(|| whole.fork_start(super::log::now() / 1_000));
        let mut fork = Self { state, ..Self::new(fork_id).with_user_id(user) };
        fork.session = fork.session.with_store(values.into_iter().collect());
        let (user, id) = (user.to_owned(), id.to_owned());
        let source = ForkSource { user, id, log: reader.id, entry: cut.entry };
        fork.state.origin.sources.insert(0, source);
        fork.state.origin.calls.extend(calls);
        Ok(fork)
    }

    fn fork_start(&self, at: u64) -> ForkStart {
        let mut state = self.state.clone();
        state.give_up_run(at);
        state.children.clear();
        state.inputs.clear();
        state.earlier_runs = crate::output::Spent::default();
        ForkStart { state, values: self.session.store().snapshot() }
    }

    /// Returns the earlier calls of tools that have not been called again.
    pub(crate) fn earlier_calls(&self) -> &[EarlierCall] {
        &self.state.origin.calls
    }

    /// Loses the saves after those that were read, with their `calls`, before the log is replaced. Returns all
    /// calls that may have run without a result.
    pub(crate) fn lose(&mut self, calls: Vec<EarlierCall>) -> Vec<EarlierCall> {
        let mut all = Vec::new();
        self.state.start_open_calls("", &mut all);
        all.extend(calls.iter().cloned());
        self.state.origin.calls.extend(calls);
        all
    }

    /// Returns the conversation of a called agent, for which the earlier calls around it count, too.
    pub(crate) fn with_earlier_calls(mut self, calls: &[EarlierCall]) -> Self {
        self.state.origin.calls = calls.to_vec();
        self
    }
}

/// Finds the entry before which a fork leaves the log.
fn find_cut(saves: &[String], before: &ForkPoint) -> Result<Cut, String> {
    let mut whole = Conversation::default();
    let mut reader = LogReader::default();
    // The entry of each input in the state.
    let mut entries: Vec<u64> = Vec::new();
    for save in saves {
        for read in reader.entries(save)? {
            let number = read.number;
            if read.node.is_empty() && matches!(read.entry, Entry::Snapshot(_)) {
                entries.clear();
            }
            let is_rewound = matches!(read.entry, Entry::Rewound { .. });
            whole.replay(read);
            let count = whole.state.marks.len();
            if is_rewound {
                entries.truncate(count);
            }
            entries.drain(..entries.len().saturating_sub(count));
            entries.resize(count, number);
        }
    }
    let position = whole.state.fork_position(before)?;
    let Some(entry) = entries.get(position).copied() else {
        return Ok(Cut { entry: reader.next(), later: 0 });
    };
    let later = entries.iter().skip(position + 1).take_while(|other| **other == entry).count();
    Ok(Cut { entry, later })
}

impl State {
    /// Returns the conversation from which this one was forked.
    pub(super) fn source(&self) -> Option<&ForkSource> {
        self.origin.sources.first()
    }

    /// Returns which input a fork leaves out first, or their number if it has all.
    fn fork_position(&self, before: &ForkPoint) -> Result<usize, String> {
        if self.run.as_ref().is_some_and(|run| run.is_working) {
            return Err(
                "a run works on it, or its process has died; wait for its end, or abandon it".to_owned()
            );
        }
        let found = match before {
            ForkPoint::End => None,
            ForkPoint::Message(index) if *index == self.history.len() => None,
            ForkPoint::Message(index) => match self.marks.iter().rposition(|mark| mark.index == *index) {
                Some(position) => Some(position),
                None => return Err(self.no_input_at(*index)),
            },
            ForkPoint::Input(id) => {
                match self.marks.iter().rposition(|mark| *mark.run == **id || mark.message == *id) {
                    Some(position) => Some(position),
                    None => return Err(format!("no run and no message has the id `{id}`")),
                }
            }
        };
        match found {
            Some(position) => Ok(position),
            None if self.turn.is_none() && self.children.is_empty() && self.history.unchecked.is_none() => {
                Ok(self.marks.len())
            }
            None => {
                Err("its latest run is unfinished; resume or abandon it, or fork before its input".to_owned())
            }
        }
    }

    fn no_input_at(&self, index: usize) -> String {
        let inputs: Vec<String> = self.marks.iter().map(|mark| mark.index.to_string()).collect();
        let len = self.history.len();
        format!(
            "message {index} begins no run; a fork may begin before the messages [{}], or at the end, {len}",
            inputs.join(", ")
        )
    }

    /// Removes the last inputs, `later` and one more, and all that follows them.
    pub(super) fn remove_last_inputs(&mut self, later: usize) {
        let Some(mark) = self.marks.iter().rev().nth(later) else { return };
        let index = mark.index;
        self.turn = None;
        self.run = None;
        self.children.clear();
        self.history.truncate(index);
        self.compactions.truncate(index);
        self.marks.retain(|mark| mark.index < index);
    }

    /// Returns the calls in the messages after the last inputs, `later` and one more.
    fn calls_after(&self, later: usize) -> Vec<EarlierCall> {
        let mut calls = Vec::new();
        let Some(mark) = self.marks.iter().rev().nth(later) else { return calls };
        for (message, at) in self.history.messages.iter().zip(&self.history.times).skip(mark.index) {
            let Message::Assistant(said) = message else { continue };
            for call in &said.calls {
                calls.push(EarlierCall::unplaced(call.clone(), *at));
            }
        }
        calls
    }

    /// Marks all calls without a result as started, and collects them. `node` is the path to this
    /// conversation.
    fn start_open_calls(&mut self, node: &str, calls: &mut Vec<EarlierCall>) {
        if let Some(mut turn) = self.turn.take() {
            for position in turn.unanswered() {
                let Some(call) = turn.message().calls.get(position).cloned() else { continue };
                let key = self.call_key(position);
                if !self.children.contains_key(&key) && !turn.message().is_answer(&call) {
                    calls.push(EarlierCall { id: format!("{node}{key}"), call, at: 0 });
                }
                if turn.pending(position).is_none() {
                    turn.start(vec![position]);
                }
            }
            self.turn = Some(turn);
        }
        for (key, child) in &mut self.children {
            child.start_open_calls(&format!("{node}{key}/"), calls);
        }
    }

    pub(super) fn at_node(&self, node: &str) -> Option<&Self> {
        let mut state = self;
        for key in node.split('/').filter(|key| !key.is_empty()) {
            state = state.children.get(key)?;
        }
        Some(state)
    }
}

/// Keeps the calls that have run. Those of an agent count in its place.
fn note_calls(state: &State, read: &ReadEntry, calls: &mut Vec<EarlierCall>) {
    if !read.node.is_empty() {
        calls.retain(|known| known.id != read.node);
    }
    let Some(turn) = state.at_node(&read.node).and_then(|nested| nested.turn.as_ref()) else { return };
    let id = |position: usize| state.path_of_call(&read.node, position);
    match &read.entry {
        Entry::Started(started) => {
            for position in started {
                let Some(call) = turn.message().calls.get(*position) else { continue };
                if !turn.message().is_answer(call) {
                    calls.push(EarlierCall { id: id(*position), call: call.clone(), at: read.at / 1_000 });
                }
            }
        }
        Entry::Pending { call, reason: Pending::Approval { .. } } => {
            let id = id(*call);
            calls.retain(|known| known.id != id);
        }
        Entry::Result(result) if has_not_run(result) => {
            let id = id(result.position);
            calls.retain(|known| known.id != id);
        }
        _ => {}
    }
}

fn has_not_run(result: &ToolResult) -> bool {
    use ErrorKind::{Disabled, InvalidArguments, InvalidJson, NotFound};
    result
        .error()
        .is_some_and(|error| matches!(error.kind(), NotFound | Disabled | InvalidArguments | InvalidJson))
}
