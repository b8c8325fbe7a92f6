//! The agents called as tools in one turn, and the run that calls them.

use super::Run;
use crate::call_ids::CallIds;
use crate::conversation::{Conversation, EarlierCall, Log, State, TurnPath};
use crate::event::RunScope;
use crate::helpers::lock;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use toolkit_core::CallId;
use toolkit_core::context::RunControl;
use toolkit_llm::__private::{Bill, Billing};
use toolkit_llm::{ModelResponse, Price, Usage};

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
}

impl RunControl for Caller {
    fn has_stopped(&self) -> bool {
        self.is_unsaved.load(Ordering::Relaxed) || self.run.has_stopped()
    }

    /// `None` if the conversation of the agent has no place in a log.
    fn call_key(&self, call_id: &CallId) -> Option<String> {
        if self.run.0.place.is_tracked { self.called.key(call_id) } else { None }
    }
}

impl Billing for Caller {
    fn add(&self, bill: Bill) {
        if !bill.is_empty() {
            self.run.add_bill(Usage::default(), bill, &self.price);
        }
    }
}

/// The tokens reported by a running model call. They count at once, in case the process dies, and for good
/// if this is dropped before the call has ended.
pub(crate) struct Reported {
    caller: Arc<Caller>,
    usage: Usage,
}

impl Reported {
    pub(crate) fn new(caller: Arc<Caller>) -> Self {
        Self { caller, usage: Usage::default() }
    }

    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    pub(crate) fn set(&mut self, usage: Usage) {
        let before = std::mem::replace(&mut self.usage, usage);
        self.caller.run.0.budget.report(before, usage, &self.caller.price);
    }

    /// Counts the answer's tokens instead.
    pub(crate) fn answered(&mut self, response: &ModelResponse) {
        if response.usage.is_empty() && response.paid.is_none() && self.usage.is_empty() {
            self.caller.run.0.budget.miss_usage();
        }
        self.end(response.billed());
    }

    /// Counts the call's tokens instead.
    pub(crate) fn end(&mut self, bill: Bill) {
        let reported = std::mem::take(&mut self.usage);
        if !bill.is_empty() || !reported.is_empty() {
            self.caller.run.add_bill(reported, bill, &self.caller.price);
        }
    }
}

impl Drop for Reported {
    fn drop(&mut self) {
        self.end(self.usage.into());
    }
}

/// The calls of one turn as their tools know them, and the agents among these tools.
#[derive(Debug, Default)]
pub(crate) struct CalledAgents(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    log: Option<Arc<Log>>,
    turn: TurnPath,
    /// The earlier calls of tools that have not been called again.
    earlier: Vec<EarlierCall>,
    /// The unfinished conversations, by the index of the call.
    conversations: BTreeMap<usize, Called>,
    ids: CallIds,
    working: HashSet<usize>,
    /// The calls that have begun, with the number of runs in their conversations.
    opened: BTreeMap<usize, u32>,
    /// How often a call was begun that was already working.
    doubled: usize,
}

/// An unfinished agent called as a tool.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) child: State,
    /// Whether it has worked in this turn.
    pub(crate) has_stopped: bool,
}

/// A call on which an agent works now.
pub(crate) struct OpenCall {
    pub(crate) position: usize,
    pub(crate) conversation: Conversation,
    pub(crate) is_unfinished: bool,
}

impl CalledAgents {
    /// Begins the unfinished turn of a conversation.
    pub(crate) fn begin_turn(&self, conversation: &Conversation) {
        let (log, turn) = (conversation.log(), conversation.turn_path());
        let earlier = conversation.earlier_calls().to_vec();
        *lock(&self.0) = Calls { log, turn, earlier, ..Calls::default() };
    }

    /// Adds the next call, which the provider calls `given`. Returns the id under which its tool runs.
    pub(crate) fn add(&self, given: CallId) -> CallId {
        lock(&self.0).ids.add(given)
    }

    pub(crate) fn key(&self, call_id: &CallId) -> Option<String> {
        let called = &mut *lock(&self.0);
        called.ids.position(call_id).map(|position| called.turn.call(position))
    }

    pub(crate) fn keep(&self, position: usize, child: State) {
        lock(&self.0).conversations.insert(position, Called { child, has_stopped: false });
    }

    /// Begins a call. `None` if it is already working, as middleware may let it.
    pub(crate) fn begin(&self, call_id: &CallId) -> Option<OpenCall> {
        let called = &mut *lock(&self.0);
        let position = called.ids.position(call_id)?;
        if !called.working.insert(position) {
            return None;
        }
        let unfinished = called.conversations.remove(&position).map(|called| called.child);
        let is_unfinished = unfinished.is_some();
        let node = called.turn.call(position);
        let mut conversation = Conversation::called(called.log.clone(), &node, unfinished);
        if !is_unfinished {
            conversation = conversation.with_earlier_calls(&called.earlier);
        }
        if let Some(runs) = called.opened.get(&position).filter(|_| !is_unfinished) {
            conversation.reset(*runs);
        }
        called.opened.entry(position).or_default();
        Some(OpenCall { position, conversation, is_unfinished })
    }

    /// Begins a call that is already working, in a conversation without a log. Returns the scope of its
    /// events, too.
    pub(crate) fn double(&self, call_id: &CallId) -> (RunScope, Conversation) {
        let mut called = lock(&self.0);
        called.doubled += 1;
        let number = called.doubled;
        let key = called.turn.call(called.ids.position(call_id).unwrap_or_default());
        let conversation = Conversation::called(None, &format!("{key}#{number}"), None);
        (RunScope::Call(format!("{}##{number}", call_id.as_str()).into()), conversation)
    }

    /// Ends the work of a called agent. Its conversation is unfinished if calls in it are pending.
    pub(crate) fn end(&self, position: usize, child: State) {
        let mut called = lock(&self.0);
        called.working.remove(&position);
        called.opened.insert(position, child.runs());
        if child.is_pending() {
            called.conversations.insert(position, Called { child, has_stopped: true });
        }
    }

    pub(crate) fn take(&self, position: usize) -> Option<Called> {
        lock(&self.0).conversations.remove(&position)
    }
}
