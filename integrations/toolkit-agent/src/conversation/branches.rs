//! The copies of a conversation that parallel agents work on.

use super::{Conversation, Keys, Views};
use toolkit_core::Session;

/// The prefix of the keys of copies for parallel agents.
pub(super) const BRANCH: &str = "branch/";

/// Returns the key for the copy of a conversation that the parallel agent at `index` works on. `depth` is the
/// number of agents that enclose the parallel agents.
fn child_of_branch(depth: usize, index: usize) -> String {
    format!("{BRANCH}{depth}/{index}")
}

/// Returns whether `key` is the key of a copy for a parallel agent.
pub(super) fn is_branch(key: &str) -> bool {
    key.starts_with(BRANCH)
}

impl Conversation {
    /// Returns the path of keys to the copy for the parallel agent at `index`. `node` is the path of keys to
    /// `self`.
    pub(crate) fn node_of_branch(&self, node: &[String], index: usize) -> Vec<String> {
        node.iter().cloned().chain([self.branch_key(index)]).collect()
    }

    fn branch_key(&self, index: usize) -> String {
        child_of_branch(self.entered.len().saturating_sub(1), index)
    }

    /// Adds an empty copy for the parallel agent at `index`, before the agent begins.
    pub(crate) fn begin_branch(&mut self, index: usize) {
        self.children.insert(self.branch_key(index), Self::default());
    }

    /// Returns a copy of the conversation for the parallel agent at `index`. If the agent was interrupted
    /// earlier, the copy also contains the messages and the progress of its unfinished work.
    pub(crate) fn branch(&mut self, index: usize) -> Self {
        let unfinished = self.children.remove(&self.branch_key(index)).unwrap_or_default();
        let base = self.messages.len();
        let Self {
            mut messages,
            mut times,
            turn,
            progress,
            children,
            mut saved,
            turns,
            compactions,
            replaced,
            removed_calls,
            ..
        } = unfinished;
        // The indexes of a compaction in a copy include the messages of this conversation.
        let compactions = if compactions.is_empty() { self.compactions.clone() } else { compactions };
        saved.connect_like(&self.saved);
        messages.splice(..0, self.messages.iter().cloned());
        times.splice(..0, (0..base).map(|index| self.times.get(index).copied().unwrap_or_default()));
        let mut copy = Self {
            messages,
            times,
            turn,
            progress,
            children,
            saved,
            turns,
            compactions,
            base,
            replaced,
            removed_calls,
            copied_calls: self.removed_calls_after(Keys::default()),
            user_id: self.user_id.clone(),
            error_details: self.error_details,
            ..Self::with_session(&self.session())
        };
        if let Some(progress) = &mut copy.progress {
            progress.move_by(base.cast_signed());
        }
        copy.replace_copied();
        copy
    }

    /// Stores the copy that the parallel agent at `index` has worked on. Removes the messages that were
    /// copied from `self`. The agent may be finished or not.
    pub(crate) fn keep_branch(&mut self, index: usize, branch: Self) {
        self.children.insert(self.branch_key(index), branch.detached());
    }

    /// Appends the new messages of `branch`, the copy for a parallel agent, and adopts its compactions. Call
    /// [`replace_as`](Self::replace_as) for all copies first.
    ///
    /// `base` is the number of messages in `self` when the parallel agents began.
    pub(crate) fn add_branch(&mut self, branch: Self, base: usize) {
        self.add_branch_within(branch, base, 0);
    }

    /// Appends the new messages of `branch`, the copy for a parallel agent, and adopts its compactions.
    /// `outer` is the number of messages in the conversations that enclose `self`.
    fn add_branch_within(&mut self, branch: Self, base: usize, outer: usize) {
        let mut branch = branch.detached();
        branch.settle();
        let is_first = self.messages.len() == base;
        self.times.resize(self.messages.len(), 0);
        self.messages.append(&mut branch.messages);
        self.times.append(&mut branch.times);
        self.removed_calls.add(&branch.removed_calls);
        self.views.counts = None;
        // Messages of other parallel agents may stand between the copied messages and the messages of this
        // agent.
        let shared = if is_first { self.messages.len() } else { base };
        self.take_over(branch.compactions, outer + shared, outer);
    }

    /// Abandons unfinished work: ends the unfinished turn, removes an answer that was being checked, and
    /// appends the messages of unfinished parallel agents. `outer` is the number of messages in the
    /// conversations that enclose `self`.
    pub(crate) fn give_up_work(&mut self, outer: usize) {
        self.settle();
        self.add_branches(outer);
    }

    /// Appends the messages of all parallel agents that an earlier run has left unfinished. `outer` is the
    /// number of messages in the conversations that enclose `self`.
    fn add_branches(&mut self, outer: usize) {
        let mut unfinished: Vec<(Vec<usize>, Self)> = Vec::new();
        for (key, branch) in std::mem::take(&mut self.children) {
            if let Some(place) = key.strip_prefix(BRANCH) {
                unfinished.push((place.split('/').filter_map(|part| part.parse().ok()).collect(), branch));
            }
        }
        unfinished.sort_by(|(one, _), (other, _)| one.cmp(other));
        let base = self.messages.len();
        for (_, branch) in &mut unfinished {
            branch.give_up_work(outer + base);
        }
        self.replace_as(unfinished.iter().map(|(_, branch)| branch));
        for (_, branch) in unfinished {
            // If a copy was itself copied, the inner copy may have replaced messages of an outer
            // conversation.
            self.replaced.extend(branch.replaced.iter().cloned());
            self.add_branch_within(branch, base, outer);
        }
    }

    /// Abandons the unfinished work in the copy for the parallel agent at `index`. The messages of the copy stay.
    pub(crate) fn give_up_branch(&mut self, index: usize) {
        let base = self.messages.len();
        let key = self.branch_key(index);
        if let Some(branch) = self.children.get_mut(&key) {
            branch.give_up_work(base);
            branch.progress = None;
        }
    }

    /// Returns whether the parallel agent at `index` has ended with an answer.
    pub(crate) fn has_finished_branch(&self, index: usize) -> bool {
        self.children.get(&self.branch_key(index)).is_some_and(|branch| branch.finished().is_some())
    }

    /// Returns whether calls in the copy for the parallel agent at `index` wait for decisions or results.
    pub(crate) fn has_pending_branch(&self, index: usize) -> bool {
        self.children.get(&self.branch_key(index)).is_some_and(|branch| !branch.pending().is_empty())
    }

    /// Removes and returns the copy for the parallel agent at `index`, without the messages copied from
    /// `self`.
    pub(crate) fn take_branch(&mut self, index: usize) -> Option<Self> {
        self.children.remove(&self.branch_key(index))
    }

    /// Removes the session values, and the messages that were copied from another conversation.
    pub(super) fn detached(mut self) -> Self {
        self.times.resize(self.messages.len(), 0);
        let base = std::mem::take(&mut self.base).min(self.messages.len());
        self.messages.drain(..base);
        self.times.drain(..base);
        self.copied_calls = Keys::default();
        self.views = Views::default();
        if let Some(progress) = &mut self.progress {
            progress.move_by(-base.cast_signed());
        }
        self.session = Session::default();
        self
    }
}
