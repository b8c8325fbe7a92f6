//! The run shared by the agents of a team.

use super::Agent;
use super::owner::Sink;
use super::run_end::RunEnd;
use crate::answer::ExpectedAnswer;
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::{RunEvent, RunScope};
use crate::helpers::{lock, new_id};
use crate::limits::Budget;
use crate::options::RunOptions;
use crate::pending::Decisions;
use crate::session::Journal;
use crate::session::sessions::Sessions;
use crate::span::{AgentSpan, SpanUsage};
use std::collections::HashSet;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::time::sleep;
use toolkit_core::{CancellationToken, RunContext, registry::RegistrySource};
use toolkit_llm::__private::Bill;
use toolkit_llm::model::RequestLoss;
use toolkit_llm::{Price, Usage};

/// The time for a save after the run is cancelled or out of time.
const GRACE: Duration = Duration::from_secs(5);

/// A run of an agent and its team, with its root agent, limits, cancellation and listener. Clones share the
/// run.
#[derive(Clone)]
pub struct Run(pub(crate) Arc<RunInner>);

#[derive(Clone)]
pub(crate) struct RunInner {
    root: Agent,
    cancellation: CancellationToken,
    /// The cancellation of the outermost run around this one. It reaches a nested run only when the calling
    /// agent cancels its calls.
    outermost: Option<CancellationToken>,
    pub(crate) budget: Arc<Budget>,
    /// The agent whose own limits are innermost in `budget`. `None` means those of the run.
    limited: Option<Agent>,
    pub(crate) place: LogPlace,
    pub(crate) answer: Option<Arc<ExpectedAnswer>>,
    /// The tools of the run, beside those of its agents.
    pub(crate) tools: Option<Arc<[RegistrySource]>>,
    /// Whether agents may only answer again, without tool calls, after an invalid answer.
    pub(crate) answers_only: bool,
    /// The tokens in the agent's span.
    usage: SpanUsage,
    pub(crate) shared: Arc<Shared>,
}

#[derive(Clone, Default)]
pub(crate) struct LogPlace {
    /// The enclosing calls and parallel agents, outermost first.
    within: Vec<RunScope>,
    /// Whether calls have a place in the log. Without one, they can neither be decided nor continued.
    pub(crate) is_tracked: bool,
    /// The log for all conversations of a saved run.
    pub(super) journal: Option<Arc<Journal>>,
    pub(crate) decisions: Decisions,
}

#[derive(Default)]
pub(crate) struct Shared {
    pub(super) invocation_id: Arc<str>,
    /// Whether the program has given the id.
    pub(super) is_named: bool,
    /// The id that the client gave to the input.
    pub(super) message_id: String,
    pub(super) events: Option<Sink>,
    /// The context of all tool calls, with the `temp:` values of the session.
    pub(crate) context: RunContext,
    pub(crate) traced_messages: bool,
    pub(super) end: RunEnd,
    /// Whether another program or task has saved the conversation, so that nothing more can be saved.
    pub(super) is_lost: AtomicBool,
    /// Whether a save was given up after [`GRACE`].
    pub(super) is_late: AtomicBool,
    /// The losses already emitted, with their agents.
    emitted_losses: Mutex<HashSet<(String, RequestLoss)>>,
}

impl Run {
    /// Ends the run and all enclosing runs, and cancels running calls. Returns the first error that ended
    /// the run.
    pub(crate) fn end(&self, error: AgentError) -> AgentError {
        self.0.shared.end.set(error)
    }

    pub(crate) fn new(root: Agent, options: RunOptions, events: Option<Sink>) -> Self {
        let limits = options.limits.unwrap_or_else(|| root.limits());
        let is_named = options.invocation_id.is_some();
        let invocation_id = options.invocation_id.map_or_else(new_id, Arc::from);
        let shared = Shared {
            context: options.context.with_invocation_id(invocation_id.clone()),
            invocation_id,
            is_named,
            message_id: options.message_id,
            events,
            traced_messages: options.traced_messages,
            ..Shared::default()
        };
        Self(Arc::new(RunInner {
            root,
            cancellation: options.cancellation,
            outermost: None,
            budget: Arc::new(Budget::new(limits)),
            limited: None,
            place: LogPlace { is_tracked: true, decisions: options.decisions, ..LogPlace::default() },
            answer: None,
            tools: (!options.tools.is_empty()).then(|| options.tools.into()),
            answers_only: false,
            usage: SpanUsage::default(),
            shared: Arc::new(shared),
        }))
    }

    /// Adds the tokens of a model call, in place of those that it had `reported`, to the budget and the
    /// spans. `price` applies to tokens without a known cost.
    pub(super) fn add_bill(&self, reported: Usage, bill: Bill, price: &Price) {
        self.0.usage.add(bill.usage);
        self.0.budget.add_bill(reported, bill, price);
    }

    pub(crate) fn usage(&self) -> &SpanUsage {
        &self.0.usage
    }

    /// Returns this run within the span of an agent. `None` if no subscriber records it.
    pub(crate) fn with_span(&self, span: &AgentSpan) -> Option<Self> {
        let usage = span.usage(&self.0.usage)?;
        Some(Self(Arc::new(RunInner { usage, ..RunInner::clone(&self.0) })))
    }

    /// Returns this run with another expected final answer.
    pub(crate) fn with_answer(&self, answer: Option<Arc<ExpectedAnswer>>) -> Self {
        Self(Arc::new(RunInner { answer, ..RunInner::clone(&self.0) }))
    }

    /// Returns this run for another attempt after an invalid answer, without tool calls and decisions.
    pub(crate) fn for_answers_only(&self) -> Self {
        let mut inner = RunInner { answers_only: true, ..RunInner::clone(&self.0) };
        inner.place.decisions = Decisions::default();
        Self(Arc::new(inner))
    }

    /// Returns the run of an agent called as a tool. `scope` is the call, if it has an id. Without
    /// `is_tracked`, its conversation cannot be continued after an interruption.
    pub(crate) fn nested(
        &self,
        root: Agent,
        cancellation: CancellationToken,
        scope: Option<RunScope>,
        is_tracked: bool,
    ) -> Self {
        // The answer of a nested agent is a tool result, so the final answer's format does not apply.
        let mut inner = RunInner { root, cancellation, answer: None, ..RunInner::clone(&self.0) };
        inner.tools = None;
        inner.outermost.get_or_insert_with(|| self.0.cancellation.clone());
        inner.place.within.extend(scope);
        inner.limited = None;
        if let Some(limits) = inner.root.own_limits() {
            inner.budget = Arc::new(Budget::within(inner.budget, limits));
        }
        if !is_tracked {
            inner.place = LogPlace { within: inner.place.within, ..LogPlace::default() };
        }
        Self(Arc::new(inner))
    }

    pub(crate) fn branch(&self, index: usize) -> Self {
        let mut inner = RunInner { answer: None, ..RunInner::clone(&self.0) };
        inner.place.within.push(RunScope::Branch(index));
        Self(Arc::new(inner))
    }

    /// Returns the run with the agent's own limits, unless it has none or is the root agent.
    pub(crate) fn limited_to(&self, agent: &Agent) -> Option<Self> {
        let limits = if agent.is(&self.0.root) { None } else { agent.own_limits() }?;
        let budget = Arc::new(Budget::within(self.0.budget.clone(), limits));
        let limited = Some(agent.clone());
        Some(Self(Arc::new(RunInner { budget, limited, ..RunInner::clone(&self.0) })))
    }

    /// Returns the run without the limits of agent `name`, which transfers the conversation.
    pub(crate) fn without_limits_of(&self, name: &str) -> Self {
        let limited = self.0.limited.as_ref().filter(|agent| agent.name() == name);
        let Some(budget) = limited.and(self.0.budget.outer()).cloned() else { return self.clone() };
        Self(Arc::new(RunInner { budget, limited: None, ..RunInner::clone(&self.0) }))
    }

    /// Returns the run with the journal of its conversation, if it belongs to [`Sessions`].
    pub(crate) fn with_journal(self, conversation: &mut Conversation) -> Self {
        match Sessions::from_conversation(conversation) {
            Some(sessions) if self.is_outermost() => {
                let mut run = self;
                Arc::make_mut(&mut run.0).place.journal = Some(sessions.journal(conversation));
                run
            }
            _ => self,
        }
    }

    /// Connects a conversation to the log of the run, in case an agent has replaced it.
    pub(crate) fn connect(&self, conversation: &mut Conversation) {
        if let Some(journal) = self.0.place.journal.as_ref().filter(|_| self.is_outermost()) {
            conversation.save_in(&journal.log);
        }
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn invocation_id(&self) -> &str {
        &self.0.shared.invocation_id
    }

    /// Returns the run's cancellation token.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.0.cancellation
    }

    /// Returns the agent that the program started, or in a nested run, the called agent.
    #[must_use]
    pub fn root(&self) -> &Agent {
        &self.0.root
    }

    pub(crate) fn is_outermost(&self) -> bool {
        self.0.place.is_tracked && self.0.place.within.is_empty()
    }

    /// Returns whether the run has a listener.
    #[must_use]
    pub fn has_listener(&self) -> bool {
        self.0.shared.events.is_some()
    }

    /// Returns the calls and parallel agents around this run's agent, outermost first.
    pub(crate) fn within(&self) -> Vec<RunScope> {
        self.0.place.within.clone()
    }

    /// Emits an event. The closure runs only if there is a listener.
    pub(crate) fn emit(&self, event: impl FnOnce() -> RunEvent) {
        match &self.0.shared.events {
            // Events sent after the listener was dropped are ignored.
            Some(Sink::Stream(events)) => drop(events.send(event())),
            Some(Sink::Owner(owner)) => owner.hear(event()),
            None => {}
        }
    }

    /// Emits the losses that the run has not yet emitted for the agent.
    pub(crate) fn emit_losses(&self, agent: &str, losses: &[RequestLoss]) {
        if losses.is_empty() || !self.has_listener() {
            return;
        }
        let mut emitted = lock(&self.0.shared.emitted_losses);
        let mut new = Vec::new();
        for loss in losses {
            if emitted.insert((agent.to_owned(), loss.clone())) {
                new.push(loss.clone());
            }
        }
        if !new.is_empty() {
            let agent = agent.to_owned();
            self.emit(|| RunEvent::RequestLosses { agent, losses: new, within: self.within() });
        }
    }

    /// Returns an error if the run was cancelled or ended.
    ///
    /// # Errors
    /// [`AgentError::Cancelled`] if the run was cancelled, or [`AgentError::Blocked`] if a guardrail has
    /// ended it.
    pub fn check_cancelled(&self) -> Result<(), AgentError> {
        if let Some(error) = self.0.shared.end.get() {
            return Err(error.clone());
        }
        if self.is_cancelled() { Err(AgentError::Cancelled) } else { Ok(()) }
    }

    fn is_cancelled(&self) -> bool {
        let outermost = self.0.outermost.as_ref();
        self.0.cancellation.is_cancelled() || outermost.is_some_and(CancellationToken::is_cancelled)
    }

    pub(super) fn has_stopped(&self) -> bool {
        self.0.shared.end.get().is_some()
            || self.0.shared.is_lost.load(Ordering::Relaxed)
            || self.is_cancelled()
            || self.0.budget.is_out_of_time()
    }

    /// Waits for `future`. After the run has stopped, waits another [`GRACE`] at most, or not at all if a
    /// save was already that late.
    pub(super) async fn until_late<T>(&self, future: impl Future<Output = T>) -> Result<T, AgentError> {
        let late = pin!(async {
            let reason = self.stopped().await;
            if !self.0.shared.is_late.load(Ordering::Relaxed) {
                sleep(GRACE).await;
                self.0.shared.is_late.store(true, Ordering::Relaxed);
            }
            reason
        });
        unless(late, future).await
    }

    /// Waits for `future`, unless the run is cancelled or out of time first.
    pub(crate) async fn until_stopped<T>(&self, future: impl Future<Output = T>) -> Result<T, AgentError> {
        unless(pin!(self.stopped()), future).await
    }

    /// Waits until the run is cancelled, ended by a guardrail or out of time, and returns the reason.
    async fn stopped(&self) -> AgentError {
        let mut cancelled = pin!(self.cancellation().cancelled());
        let mut deadline = pin!(async {
            match self.0.budget.time_left() {
                Some(left) => sleep(left).await,
                None => pending().await,
            }
        });
        let mut ended = pin!(self.0.shared.end.wait());
        poll_fn(|cx| {
            if let Poll::Ready(error) = ended.as_mut().poll(cx) {
                return Poll::Ready(error);
            }
            if cancelled.as_mut().poll(cx).is_ready() {
                return Poll::Ready(AgentError::Cancelled);
            }
            deadline.as_mut().poll(cx).map(|()| self.0.budget.out_of_time())
        })
        .await
    }
}

/// Waits for `future`, unless `stop`, polled only while `future` waits, gives an error first.
async fn unless<T>(
    mut stop: Pin<&mut impl Future<Output = AgentError>>,
    future: impl Future<Output = T>,
) -> Result<T, AgentError> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Ok(value)),
        Poll::Pending => stop.as_mut().poll(cx).map(Err),
    })
    .await
}

debug!(Run, self, "root": self.0.root.name(), "invocation_id": self.0.shared.invocation_id);
