//! The agents called as tools in one turn, and the run that calls them.

use super::Run;
use crate::conversation::{Conversation, Counts};
use crate::event::RunScope;
use crate::helpers::lock;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::take;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use toolkit_core::CallId;
use toolkit_llm::__private::{Bill, Billing};
use toolkit_llm::Messages;
use toolkit_llm::model::Price;

/// The run of an agent, for its tools and its model.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) run: Run,
    pub(crate) called: CalledAgents,
    /// The price of tokens without a known cost.
    price: Price,
    is_unsaved: AtomicBool,
}

impl Caller {
    pub(crate) fn new(run: &Run, price: Price) -> Self {
        Self { run: run.clone(), called: CalledAgents::default(), price, is_unsaved: AtomicBool::new(false) }
    }

    /// Notes that results could not be saved. No further call of the agent begins.
    pub(crate) fn set_unsaved(&self) {
        self.is_unsaved.store(true, Ordering::Relaxed);
    }

    /// Returns whether no further call of the agent may begin.
    pub(crate) fn has_stopped(&self) -> bool {
        self.is_unsaved.load(Ordering::Relaxed) || self.run.has_stopped()
    }
}

impl Billing for Caller {
    fn add(&self, bill: Bill) {
        if !bill.is_empty() {
            self.run.add_bill(bill, &self.price);
        }
    }
}

/// The agents called as tools in the current turn of an agent.
#[derive(Debug, Default)]
pub(crate) struct CalledAgents(Mutex<Called>);

#[derive(Debug, Default)]
struct Called {
    /// The unfinished conversations of the called agents, by the index of the call in its turn. A
    /// conversation is absent while its agent works, and comes back with `true` if the agent is interrupted.
    conversations: BTreeMap<usize, (Conversation, bool)>,
    /// The messages before the turn, until `counts` has counted their calls. Most turns call no agent, so the rest is
    /// computed when it is first needed.
    earlier: Option<Messages>,
    /// The calls of the conversation, and those of the turn that have a key. The conversation keeps the counts between
    /// turns.
    counts: Counts,
    /// The calls of the turn. `true` marks a call that runs.
    calls: Vec<(CallId, bool)>,
    /// The keys of the first calls of the turn. The others get a key when it is first needed.
    keys: Vec<String>,
    /// The index of each call that runs, by its id. `None` if several such calls have the same id, because the index
    /// is then ambiguous.
    positions: HashMap<CallId, Option<usize>>,
    /// The indexes of the calls with working agents.
    working: HashSet<usize>,
    /// The number of agents that began without a registered call, or with an ambiguous call id.
    unknown: usize,
}

impl Called {
    /// Computes the keys and the indexes of all calls so far.
    fn read_calls(&mut self) {
        if let Some(earlier) = self.earlier.take() {
            self.counts.extend(&earlier);
        }
        for (id, runs) in self.calls.iter().skip(self.keys.len()) {
            let position = self.keys.len();
            self.keys.push(self.counts.keys.next(id));
            if *runs {
                self.positions
                    .entry(id.clone())
                    .and_modify(|position| *position = None)
                    .or_insert(Some(position));
            }
        }
    }
}

impl CalledAgents {
    /// Removes the calls of the previous turn.
    pub(crate) fn begin_turn(&self) {
        let called = &mut *lock(&self.0);
        called.conversations.clear();
        called.calls.clear();
        called.keys.clear();
        called.positions.clear();
        called.working.clear();
        called.unknown = 0;
    }

    /// Prepares for the calls of a turn of `conversation`.
    pub(crate) fn begin_calls(&self, conversation: &mut Conversation) {
        let called = &mut *lock(&self.0);
        called.counts = conversation.take_counts();
        called.earlier = Some(conversation.history().clone());
    }

    /// Returns the counts of the calls before the turn to the conversation, and releases its messages, so that adding
    /// to them does not copy them.
    pub(crate) fn end_calls(&self, conversation: &mut Conversation) {
        let called = &mut *lock(&self.0);
        let Called { counts, calls, keys, earlier, .. } = called;
        if earlier.take().is_some() || !keys.is_empty() {
            calls.iter().take(keys.len()).for_each(|(id, _)| counts.keys.undo(id));
            keys.clear();
            calls.clear();
            conversation.keep_counts(take(counts));
        }
    }

    /// Registers the next call of the turn. `runs` is `false` if its tool does not run.
    pub(crate) fn add(&self, call_id: CallId, runs: bool) {
        lock(&self.0).calls.push((call_id, runs));
    }

    /// Stores the unfinished conversation of the agent called at `position`, before the call runs again.
    pub(crate) fn keep(&self, position: usize, unfinished: Conversation) {
        lock(&self.0).conversations.insert(position, (unfinished, false));
    }

    /// Returns the key of the call at `position`.
    pub(crate) fn key(&self, position: usize) -> String {
        let called = &mut *lock(&self.0);
        called.read_calls();
        called.keys.get(position).cloned().unwrap_or_default()
    }

    /// Begins the agent of the call with this id. Returns the index and the key of the call, and the unfinished
    /// conversation to continue. Returns `None` if the id is unknown or belongs to several calls, or if the agent
    /// already works.
    pub(crate) fn begin(&self, call_id: &CallId) -> Option<(usize, String, Option<Conversation>)> {
        let called = &mut *lock(&self.0);
        called.read_calls();
        let position = (*called.positions.get(call_id)?)?;
        let is_first = called.working.insert(position);
        let key = called.keys.get(position).cloned().unwrap_or_default();
        is_first.then(|| {
            (position, key, called.conversations.remove(&position).map(|(unfinished, _)| unfinished))
        })
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
            called.conversations.insert(position, (conversation, true));
        }
    }

    /// Removes and returns the unfinished conversation of the agent called at `position`, and whether the agent has
    /// begun in this run.
    pub(crate) fn take(&self, position: usize) -> Option<(Conversation, bool)> {
        lock(&self.0).conversations.remove(&position)
    }
}
