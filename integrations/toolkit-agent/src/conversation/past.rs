//! What the entries of a log show: the events of its runs, and what else programs read.
//!
//! An entry shows what a listener of the run has seen by then. What guardrails have not seen yet waits for
//! the verdict.

mod view;

use super::stored::{LogReader, ReadEntry};
use super::{Entry, State};
use crate::conversation_entry::{ConversationEntry, EntryKind};
use crate::event::RunEvent;
use crate::status::RunStatus;
use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use toolkit_llm::{AssistantMessage, Message, UserMessage};
use view::View;

/// Reads entries one after the other, and shows what becomes visible with each.
///
/// After each entry, what was shown so far is the beginning of what all entries show, except for inputs
/// that guardrails replace or block later.
#[derive(Default)]
pub(crate) struct PastEvents {
    reader: LogReader,
    state: State,
    shown: Vec<ConversationEntry>,
    /// The inputs of each conversation, by its path.
    inputs: BTreeMap<String, Inputs>,
}

/// An event of the past, with the number of entries up to its own.
pub(crate) struct PastEvent {
    pub(crate) entries: u64,
    pub(crate) run: Arc<str>,
    pub(crate) event: RunEvent,
}

#[derive(Debug, Default)]
struct Inputs {
    /// The number of removed first messages.
    removed: usize,
    /// The index of each input before any removal, and the number of its entry.
    entries: Vec<(usize, u64)>,
}

impl PastEvents {
    /// Reads all saves of a log, and returns what they show.
    ///
    /// # Errors
    /// As those of [`read`](Self::read).
    pub(crate) fn entries_of(saves: &[String]) -> Result<Vec<ConversationEntry>, String> {
        let mut past = Self::default();
        for save in saves {
            past.follow(save)?;
        }
        Ok(past.shown)
    }

    /// Reads the next save, and returns its events.
    ///
    /// # Errors
    /// A message if the log has another format, or if an entry is missing, repeated or damaged.
    pub(crate) fn read(&mut self, save: &str) -> Result<Vec<PastEvent>, String> {
        self.follow(save)?;
        let mut events = Vec::new();
        for entry in mem::take(&mut self.shown) {
            if let EntryKind::Event(event) = entry.kind {
                events.push(PastEvent { entries: entry.number + 1, run: entry.run, event });
            }
        }
        Ok(events)
    }

    /// Returns whether this save comes after those that were read.
    pub(crate) fn is_next(&self, save: &str) -> bool {
        save.starts_with(&format!("{{\"n\":{},", self.entries()))
    }

    /// Returns the id of the log.
    pub(crate) fn log(&self) -> &Arc<str> {
        &self.reader.id
    }

    /// Returns the number of entries read.
    pub(crate) fn entries(&self) -> u64 {
        self.reader.next
    }

    /// Returns whether a run works after them.
    pub(crate) fn is_working(&self) -> bool {
        matches!(self.state.status(), RunStatus::Working { .. })
    }

    fn follow(&mut self, save: &str) -> Result<(), String> {
        for entry in self.reader.entries(save)? {
            self.apply(entry);
        }
        Ok(())
    }

    fn apply(&mut self, read: ReadEntry) {
        let ReadEntry { number, at, node, entry } = read;
        let within = self.state.scopes(&node);
        let before =
            self.state.at_node(&node).map(|state| Before::new(state, &node, &entry)).unwrap_or_default();
        self.state.apply_at(&node, entry.clone(), at / 1_000);
        let run = self.state.run.as_ref().map(|run| run.id.clone()).unwrap_or_default();
        let Some(state) = self.state.at_node(&node) else { return };
        let mut view = View { state, before, within, number, at, run, path: &node, shown: &mut self.shown };
        view.show_entry(&entry);
        self.follow_inputs(&node, &entry, number);
    }

    /// Gives the shown inputs the form in which the conversation has them.
    fn follow_inputs(&mut self, node: &str, entry: &Entry, number: u64) {
        let Some(state) = self.state.at_node_mut(node) else { return };
        let changed = state.history.take_changed();
        let inputs = self.inputs.entry(node.to_owned()).or_default();
        match entry {
            Entry::Snapshot(_) => *inputs = Inputs::default(),
            Entry::Removed(count) => inputs.removed += count,
            Entry::Rewound { .. } => {
                let len = inputs.removed + state.history.len();
                inputs.entries.retain(|(index, _)| *index < len);
            }
            Entry::RunBegan { .. } | Entry::Steered { .. } | Entry::Message(_) => {
                let added = state.history.len().saturating_sub(1);
                inputs.entries.push((inputs.removed + added, number));
            }
            _ => {}
        }
        let Some(changed) = changed else { return };
        let first = inputs.entries.partition_point(|(index, _)| *index < inputs.removed + changed);
        for (index, number) in inputs.entries.get(first..).unwrap_or_default() {
            let message = state.history.messages.get(index.saturating_sub(inputs.removed));
            if let Some(Message::User(input)) = message {
                replace_input(&mut self.shown, *number, input);
            }
        }
    }
}

fn replace_input(shown: &mut [ConversationEntry], number: u64, input: &UserMessage) {
    let first = shown.partition_point(|entry| entry.number < number);
    for entry in shown.iter_mut().skip(first).take_while(|entry| entry.number == number) {
        if let EntryKind::Input { message, .. } = &mut entry.kind {
            message.clone_from(input);
        }
    }
}

/// What a conversation was before an entry, as far as the entry shows it.
#[derive(Debug, Default)]
struct Before {
    /// The working agents, and whether they have handed over.
    frames: Vec<(String, bool)>,
    /// The index of the first message that waits for a verdict.
    waiting: usize,
    /// The ids of messages that wait for the verdict about a later one.
    paused: Vec<Arc<str>>,
    /// The text and the reasoning of the unfinished message that were shown.
    text: String,
    reasoning: String,
    is_message_shown: bool,
    /// Whether outputs of tools that are the answer wait for the verdict.
    holds_outputs: bool,
}

impl Before {
    fn new(state: &State, node: &str, entry: &Entry) -> Self {
        let history = &state.history;
        let waiting = history.unchecked.unwrap_or_else(|| history.len());
        let mut before = Self { waiting, paused: state.unchecked_ids(&with_slash(node)), ..Self::default() };
        match entry {
            Entry::AgentBegan { .. } | Entry::AgentEnded { .. } | Entry::Stopped(_) => {
                let frames = state.run.iter().flat_map(|run| &run.frames);
                before.frames = frames.map(|frame| (frame.agent.clone(), frame.transfer.is_some())).collect();
            }
            Entry::Call(_) | Entry::ModelEnded(_) | Entry::TurnEnded { .. } => before.read_turn(state),
            _ => {}
        }
        before
    }

    fn read_turn(&mut self, state: &State) {
        let Some(turn) = &state.turn else { return };
        let message = turn.message();
        self.is_message_shown = turn.end().is_some() && !(turn.checks_answers && may_be_answer(message));
        if turn.checks_answers {
            self.holds_outputs = !turn.results().is_empty();
        } else {
            self.text.clone_from(&message.text);
            self.reasoning.clone_from(&message.reasoning);
        }
    }
}

fn may_be_answer(message: &AssistantMessage) -> bool {
    message.calls.is_empty() || message.has_answer()
}

fn with_slash(node: &str) -> Arc<str> {
    if node.is_empty() { Arc::default() } else { format!("{node}/").into() }
}
