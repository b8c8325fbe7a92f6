//! The conversations of parallel agents: copies of the conversation around them.

use super::RunState;
use super::State;
use std::collections::BTreeMap;
use std::mem::take;
use toolkit_llm::{AssistantMessage, Message, UserMessage};

const BRANCH: char = 'b';

/// Returns whether `key` is that of a parallel agent, not of a call.
pub(super) fn is_branch(key: &str) -> bool {
    key.starts_with(BRANCH)
}

impl State {
    /// Returns the key of the parallel agent at `index`, unique in the run.
    pub(super) fn branch_key(&self, index: usize) -> String {
        let joined = self.run.as_ref().map_or(0, |run| run.joined);
        format!("{BRANCH}{}", joined + index)
    }

    /// Returns the index of the parallel agent with this key. `None` for the key of a call.
    pub(super) fn branch_index(&self, key: &str) -> Option<usize> {
        let number: usize = key.strip_prefix(BRANCH)?.parse().ok()?;
        number.checked_sub(self.run.as_ref().map_or(0, |run| run.joined))
    }

    pub(super) fn begin_branch(&mut self, index: usize) {
        let copy = Self {
            history: self.history.copy(),
            run: Some(RunState { is_working: true, ..RunState::default() }),
            runs: self.runs,
            compactions: self.compactions.clone(),
            origin: self.origin.of_called(),
            ..Self::default()
        };
        self.children.insert(self.branch_key(index), copy);
    }

    pub(super) fn has_branches(&self) -> bool {
        self.children.keys().any(|key| is_branch(key))
    }

    /// Appends the new messages of all parallel agents in order, with the errors of failed ones, and adopts
    /// their compactions. Unfinished work is abandoned.
    pub(super) fn join_branches(&mut self, at: u64) {
        if !self.has_branches() {
            return;
        }
        let mut branches: Vec<(usize, Self)> = Vec::new();
        for (key, child) in take(&mut self.children) {
            if is_branch(&key) {
                branches.push((key.trim_start_matches(BRANCH).parse().unwrap_or_default(), child));
            } else {
                self.children.insert(key, child);
            }
        }
        branches.sort_by_key(|(index, _)| *index);
        for (_, branch) in &mut branches {
            branch.give_up_work(at);
        }
        let title = self.first_title();
        self.replace_as(&branches);
        if *self.title == *title {
            self.title = self.first_title();
        }
        for (_, branch) in &branches {
            self.origin.calls.retain(|call| branch.origin.calls.contains(call));
        }
        let run = self.run();
        let frame = run.frames.last().cloned().unwrap_or_default();
        let joined = run.joined;
        run.joined += branches.len();
        let base = self.history.len();
        for (index, branch) in branches {
            let is_first = self.history.len() == base;
            for (message, at) in branch.history.own() {
                self.history.add(message.clone(), at);
            }
            // Messages of other agents may stand between the copied messages and this agent's own.
            let shared = if is_first { self.history.len() } else { base };
            self.adopt_compactions(branch.compactions, shared);
            let index = index.saturating_sub(joined);
            if let (Some(error), Some(agent)) = (frame.failed.get(&index), frame.members.get(index)) {
                let text = AssistantMessage::text(format!("(No answer: {error})"));
                self.history.add(Message::Assistant(text.by(agent.as_str())), at);
            }
        }
    }

    /// Repeats the replacements made by guardrails in the copies. A message replaced differently is
    /// removed, because each guardrail may have found another fault.
    fn replace_as(&mut self, branches: &[(usize, Self)]) {
        // `None` is a removed message. In the same copy, a later replacement takes the place of an earlier
        // one.
        let mut all: BTreeMap<usize, Option<UserMessage>> = BTreeMap::new();
        for (_, Self { history, .. }) in branches {
            let latest: BTreeMap<usize, &UserMessage> =
                history.copied.replaced.iter().map(|(index, message)| (*index, message)).collect();
            for (index, message) in latest {
                let is_blocked = history.blocked.contains(&index.saturating_sub(history.copied.removed));
                let message = (!is_blocked).then_some(message);
                let known = all.entry(index).or_insert_with(|| message.cloned());
                if known.as_ref() != message {
                    *known = None;
                }
            }
        }
        for (index, message) in all {
            match message {
                Some(message) => self.history.replace(index, message),
                None => self.history.block(index),
            }
        }
    }

    /// Returns the state as it is saved: parallel agents' conversations lack the shared messages.
    pub(super) fn detached(&self) -> Self {
        let mut state = self.clone();
        for (_, branch) in state.children.iter_mut() {
            *branch = branch.detached();
            branch.history.leave_out(&self.history);
        }
        state
    }

    /// Returns the state with the messages that [`detached`](Self::detached) has left out.
    pub(super) fn attached(mut self) -> Self {
        for (_, branch) in self.children.iter_mut() {
            branch.history.complete(&self.history);
            *branch = take(branch).attached();
        }
        self
    }
}
