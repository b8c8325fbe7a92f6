//! What the owner of runs asks of a conversation.

use super::stored::{LogReader, ReadEntry};
use super::{Conversation, Entry, InputId};
use crate::helpers::lock;
use crate::pending::Decision;
use crate::status::{EndReason, RunStatus};
use std::collections::BTreeMap;
use std::sync::Arc;
use toolkit_llm::UserMessage;

impl Conversation {
    /// Returns how the latest run stands.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        self.state.status()
    }

    /// Returns whether the conversation has the input with this id, or the run that it began.
    pub(crate) fn has_input(&self, run: &str) -> bool {
        self.state.inputs.iter().any(|id| **id == *run)
    }

    /// Returns the number of attempts at the latest run.
    pub(crate) fn attempt(&self) -> u32 {
        self.state.run.as_ref().map_or(0, |run| run.attempts)
    }

    /// Takes up these items of the inbox: the next save deletes them.
    pub(crate) fn take_up(&self, numbers: &[u64]) {
        if let Some(log) = &self.log.0 {
            lock(&log.position).taken.extend_from_slice(numbers);
        }
    }

    /// Takes up the items with decisions about these calls, each with the entry of its decision.
    pub(crate) fn take_up_decided(&self, items: BTreeMap<String, u64>) {
        if let Some(log) = &self.log.0 {
            lock(&log.position).decisions = items;
        }
    }

    /// Takes up the item with the decision about the call at `position` of the turn.
    pub(super) fn take_decision(&self, position: usize) {
        let Some(log) = &self.log.0 else { return };
        let mut log = lock(&log.position);
        if !log.decisions.is_empty()
            && let Some(number) = log.decisions.remove(&self.path_of_call(position))
        {
            log.taken.push(number);
        }
    }

    /// Leaves all items in the inbox that no save has deleted yet.
    pub(crate) fn give_back(&self) {
        if let Some(log) = &self.log.0 {
            lock(&log.position).taken.clear();
        }
    }

    /// Returns the id of the log, and the number of saved entries.
    pub(crate) fn saved_entries(&self) -> (Arc<str>, u64) {
        let Some(log) = &self.log.0 else { return Default::default() };
        let position = lock(&log.position);
        (position.id.clone(), position.saved())
    }

    /// Returns the number of entries, if the run works and no turn is open.
    pub(crate) fn entries_between_turns(&self) -> Option<u64> {
        let is_between =
            self.state.turn.is_none() && self.unchecked().is_empty() && self.state.children.is_empty();
        let is_working = self.state.run.as_ref().is_some_and(|run| run.is_working);
        (is_between && is_working).then(|| self.saved_entries().1)
    }

    /// Adds an input to the run that works, between turns.
    pub(crate) fn steer(&mut self, input: UserMessage, id: InputId) {
        self.record(Entry::Steered { input, run: id.run, message: id.message });
    }

    /// Ends a run, and what waits in it.
    pub(crate) fn cancel_run(&mut self) {
        self.settle();
        self.stop_run(EndReason::Cancelled.into());
        if !self.pending().is_empty() {
            self.abandon();
        }
    }

    /// Returns the decision about a call, and who has decided, if the log has it.
    pub(crate) fn decision_in(saves: &[String], call: &str) -> Option<(Decision, String)> {
        let mut state = super::State::default();
        let mut reader = LogReader::default();
        let mut found = None;
        for save in saves {
            for ReadEntry { at, node, entry, .. } in reader.entries(save).ok()? {
                if let Entry::Decided { call: position, decision: Some(decision), by } = &entry
                    && call == state.path_of_call(&node, *position)
                {
                    found = Some((decision.clone(), by.clone()));
                }
                state.apply_at(&node, entry, at / 1_000);
            }
        }
        found
    }
}
