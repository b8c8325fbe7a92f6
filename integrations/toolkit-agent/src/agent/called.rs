//! The agents called as tools in one turn.

use crate::conversation::Conversation;
use crate::event::RunScope;
use crate::helpers::lock;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Mutex;
use toolkit_core::CallId;

/// The agents called as tools in the current turn of an agent.
#[derive(Debug, Default)]
pub(crate) struct CalledAgents(Mutex<Called>);

#[derive(Debug, Default)]
struct Called {
    /// The unfinished conversations of the called agents, by the index of the call in its turn. A
    /// conversation is absent while its agent works, and comes back if the agent is interrupted.
    conversations: BTreeMap<usize, Conversation>,
    /// The ids and indexes of calls that are not yet in `positions`. They move there only when an agent
    /// begins, because most turns call no agent.
    calls: Vec<(CallId, usize)>,
    /// The index of each call, by its id. `None` if several calls have the same id, because the index is then
    /// ambiguous.
    positions: HashMap<CallId, Option<usize>>,
    /// The indexes of the calls whose agents are working.
    working: HashSet<usize>,
    /// The number of agents that began without a registered call, or with an ambiguous call id.
    unknown: usize,
}

impl CalledAgents {
    /// Removes the calls of the previous turn.
    pub(crate) fn begin_turn(&self) {
        let called = &mut *lock(&self.0);
        called.conversations.clear();
        called.calls.clear();
        called.positions.clear();
        called.working.clear();
        called.unknown = 0;
    }

    /// Registers a call before it runs. `unfinished` is the unfinished conversation of the called agent, if
    /// it has one.
    pub(crate) fn add(&self, call_id: CallId, position: usize, unfinished: Option<Conversation>) {
        let mut called = lock(&self.0);
        called.calls.push((call_id, position));
        if let Some(unfinished) = unfinished {
            called.conversations.insert(position, unfinished);
        }
    }

    /// Marks the agent of the call with this id as working. Returns the index of the call and the unfinished
    /// conversation to continue.
    ///
    /// Returns `None` if the id is unknown or belongs to several calls, or if the agent is already working.
    pub(crate) fn begin(&self, call_id: &CallId) -> Option<(usize, Option<Conversation>)> {
        let called = &mut *lock(&self.0);
        for (id, position) in called.calls.drain(..) {
            called.positions.entry(id).and_modify(|position| *position = None).or_insert(Some(position));
        }
        let position = (*called.positions.get(call_id)?)?;
        let is_first = called.working.insert(position);
        is_first.then(|| (position, called.conversations.remove(&position)))
    }

    /// Returns a new unique scope for an agent if [`begin`](Self::begin) has returned `None` for its call.
    pub(crate) fn scope(&self, call_id: &str) -> RunScope {
        let mut called = lock(&self.0);
        called.unknown += 1;
        RunScope::Call(format!("{call_id}#{}", called.unknown).into())
    }

    /// Marks the agent of a call as no longer working, so that a repeated call may begin it again. Stores the
    /// conversation if it has pending calls.
    pub(crate) fn end(&self, position: usize, conversation: Conversation) {
        let mut called = lock(&self.0);
        called.working.remove(&position);
        if !conversation.pending().is_empty() {
            called.conversations.insert(position, conversation);
        }
    }

    /// Removes and returns the unfinished conversation of the agent called at `position`.
    pub(crate) fn take(&self, position: usize) -> Option<Conversation> {
        lock(&self.0).conversations.remove(&position)
    }
}
