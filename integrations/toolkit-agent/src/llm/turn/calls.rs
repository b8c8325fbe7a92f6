//! The tool calls of one turn, from their start to their results.

use super::pieces::Pieces;
use super::refusal::{parallel_call_refused, refusal, repeated};
use super::repetitions::Repetitions;
use crate::agent::{Called, Caller};
use crate::conversation::{Conversation, Turn, describe_interrupted, is_final};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::llm::answer::FinalAnswer;
use crate::llm::context::meter::Meter;
use crate::llm::scope::TurnScope;
use futures_core::Stream;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use toolkit_core::{Batch, Dispatcher, ToolCall, ToolError, ToolRegistry, ToolResult};
use toolkit_llm::ModelError;

/// The tool calls of one turn, with what runs them and emits events.
pub(in crate::llm) struct TurnCalls<'a> {
    pub(in crate::llm) conversation: &'a mut Conversation,
    pub(in crate::llm) scope: TurnScope<'a>,
    pub(in crate::llm) caller: &'a Arc<Caller>,
    pub(in crate::llm) answer: &'a FinalAnswer<'a>,
    pub(super) repetitions: &'a mut Repetitions,
    pub(in crate::llm) meter: &'a mut Meter,
    pub(in crate::llm) pieces: Pieces<'a>,
    pub(in crate::llm) attempt: Attempt,
    pub(super) dispatched: DispatchedCalls,
}

/// The latest attempt to get a response.
#[derive(Default)]
pub(in crate::llm) struct Attempt {
    /// Whether the request allows one call per message. Some servers ignore this setting.
    pub(super) one_call: bool,
    /// Whether a piece of the answer has arrived.
    pub(super) has_begun: bool,
    /// The stream's error, if the response broke off after a call had started.
    pub(super) broken: Option<ModelError>,
}

impl Attempt {
    /// Returns whether the provider bills an attempt with this error.
    pub(in crate::llm) fn is_billed(&self, error: &ModelError) -> bool {
        self.has_begun || error.partial().is_some()
    }
}

/// The counted and dispatched calls of a turn.
pub(super) struct DispatchedCalls {
    batch: Batch,
    registry: Arc<ToolRegistry>,
    /// The index in the turn of each call in `batch`.
    indexes: Vec<usize>,
    /// How many calls of the message, from the first on, have been started or refused.
    pub(super) handled: usize,
    /// The calls after these that already count for the limits.
    counted: VecDeque<CountedCall>,
    /// Whether a counted call has given an invalid answer.
    has_invalid: bool,
}

enum CountedCall {
    Runs,
    /// The call's error result is already in the turn.
    Refused,
}

/// Calls that are counted, and not recorded yet.
pub(super) struct NewCalls {
    refused: Vec<ToolResult>,
    /// The positions in the message of the calls to start.
    to_start: Vec<usize>,
}

impl DispatchedCalls {
    pub(super) fn new(dispatcher: &Dispatcher) -> Self {
        let (batch, registry) = (dispatcher.batch([]), dispatcher.registry());
        Self {
            batch,
            registry,
            indexes: Vec::new(),
            handled: 0,
            counted: VecDeque::new(),
            has_invalid: false,
        }
    }
}

impl TurnCalls<'_> {
    /// Forgets the calls of an attempt that failed before any of them started.
    pub(super) fn forget(&mut self) {
        self.dispatched.counted.clear();
        self.dispatched.has_invalid = false;
    }

    /// Records the counted calls, saves the conversation, and starts the calls. After a crash, no refused
    /// call runs and no other call runs twice.
    pub(super) async fn admit(&mut self, NewCalls { refused, to_start }: NewCalls) -> Result<(), AgentError> {
        for result in refused {
            self.keep(result);
        }
        self.conversation.start_calls(to_start);
        if self.conversation.turn_message().is_some_and(|message| !message.calls.is_empty()) {
            self.scope.run.save(self.conversation).await?;
        }
        self.start();
        Ok(())
    }

    pub(super) fn counted(&self) -> usize {
        self.dispatched.handled + self.dispatched.counted.len()
    }

    /// Counts new calls for the limits. Calls beyond a limit, repeated too often, after an invalid answer,
    /// or parallel although forbidden are refused with an error result. What the run has spent goes into
    /// the log before the entries that tell why.
    ///
    /// The first call of a tool with earlier calls waits for a decision, and counts once it runs.
    pub(super) fn count(&mut self, calls: &[ToolCall]) -> NewCalls {
        let mut refused = Vec::new();
        let mut to_start = Vec::new();
        for (position, call) in (self.counted()..).zip(calls) {
            let refusal = if self.attempt.one_call && position > 0 && !self.answer.is_in(call) {
                Some(parallel_call_refused())
            } else if !self.dispatched.has_invalid
                && let Some(waits) = repeated(self.conversation, &self.dispatched.registry, call)
            {
                Some(waits)
            } else {
                refusal(self.scope.run, self.answer, self.repetitions, call, self.dispatched.has_invalid)
            };
            self.dispatched.has_invalid |= self.answer.is_invalid(call);
            let counted = match refusal {
                Some(error) => {
                    refused.push(ToolResult::of(call, Err(error)).with_position(position));
                    CountedCall::Refused
                }
                None => {
                    to_start.push(position);
                    CountedCall::Runs
                }
            };
            self.dispatched.counted.push_back(counted);
        }
        self.conversation.log_spent(|| self.scope.run.0.budget.sum_of_run());
        NewCalls { refused, to_start }
    }

    fn start(&mut self) {
        if self.dispatched.handled == 0 && !self.dispatched.counted.is_empty() {
            self.caller.called.begin_turn(self.conversation);
        }
        while let Some(counted) = self.dispatched.counted.pop_front() {
            let position = self.dispatched.handled;
            let message = self.conversation.turn_message();
            let Some(call) = message.and_then(|message| message.calls.get(position)).cloned() else { return };
            self.dispatched.handled += 1;
            match counted {
                CountedCall::Runs => self.start_call(position, call),
                CountedCall::Refused => drop(self.caller.called.add(call.id)),
            }
        }
    }

    /// Starts a call of the message, unless the answer has its result already.
    pub(super) fn start_call(&mut self, position: usize, mut call: ToolCall) {
        let outcome = self.answer.outcome(&call);
        let id = self.caller.called.add(call.id.clone());
        if let Some(outcome) = outcome {
            return self.keep(ToolResult::of(&call, outcome).with_position(position));
        }
        if let Some(unfinished) = self.conversation.take_called(position) {
            self.caller.called.keep(position, unfinished);
        }
        call.id = id;
        self.dispatched.indexes.push(position);
        self.dispatched.batch.push(call);
    }

    /// Waits for the next result. `None` if no call is running.
    pub(super) async fn next(&mut self) -> Option<ToolResult> {
        if self.dispatched.batch.is_empty() {
            // An empty batch is not polled, because calls may be added later.
            return None;
        }
        let result = self.dispatched.batch.next().await?;
        Some(self.received(result))
    }

    /// Returns a result that is already there, without waiting.
    async fn next_ready(&mut self) -> Option<ToolResult> {
        let next = poll_fn(|cx| match Pin::new(&mut self.dispatched.batch).poll_next(cx) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => Poll::Ready(None),
        });
        let result = next.await?;
        Some(self.received(result))
    }

    /// Records a result for the detection of repeated calls, and gives it the position in the turn and the
    /// provider's id.
    fn received(&mut self, mut result: ToolResult) -> ToolResult {
        let position = self.dispatched.indexes.get(result.position).copied().unwrap_or(result.position);
        let message = self.conversation.turn_message();
        if let Some(call) = message.and_then(|message| message.calls.get(position)) {
            self.repetitions.record(call, &result);
            result.call_id.clone_from(&call.id);
        }
        result.with_position(position)
    }

    /// Adds a result to the turn and emits an event, or marks the call as pending if the result is a
    /// `Pending` error.
    pub(super) fn keep(&mut self, mut result: ToolResult) {
        self.return_called_agent(&mut result);
        let agent = || self.scope.agent.to_owned();
        let key = || self.conversation.path_of_call(result.position).into();
        let within = || self.scope.run.within();
        match result.error().and_then(ToolError::pending) {
            Some(reason) => {
                if self.scope.run.0.place.is_tracked {
                    self.scope.run.emit(|| RunEvent::CallPending {
                        agent: agent(),
                        key: key(),
                        call_id: result.call_id.clone(),
                        reason: reason.clone(),
                        within: within(),
                    });
                }
            }
            None => {
                if !self.is_hidden(&result) {
                    self.scope.run.emit(|| RunEvent::Result {
                        agent: agent(),
                        key: key(),
                        result: Box::new(result.clone()),
                        within: within(),
                    });
                }
            }
        }
        self.conversation.add_result(result);
    }

    /// Takes back the agent that the call of `result` has called, if it did, and changes the result where
    /// that agent has not ended: its calls can be decided later, or what it did is lost.
    fn return_called_agent(&mut self, result: &mut ToolResult) {
        let Some(Called { child, has_stopped }) = self.caller.called.take(result.position) else { return };
        if !has_stopped && let Err(error) = &result.outcome {
            // The agent has not begun again.
            let can_be_decided = child.is_pending() || error.pending().is_some();
            if is_final(error) || !can_be_decided {
                result.outcome = Err(describe_interrupted(error, child));
                return;
            }
        }
        if child.is_pending() {
            self.conversation.return_called(result.position, child);
            if result.error().is_some_and(|error| error.pending().is_none()) {
                result.outcome = Err(ToolError::deferred(result.name.as_str()));
            }
        }
    }

    /// Returns whether a result has no event: that of an answer is for the model, and an output that is the
    /// answer waits for its verdict.
    fn is_hidden(&self, result: &ToolResult) -> bool {
        let Some(turn) = self.conversation.turn() else { return false };
        let call = turn.message().calls.get(result.position);
        let is_answer = call.is_some_and(|call| self.answer.is_in(call));
        is_answer || result.actions.skip_summarization && turn.checks_answers
    }

    /// Waits for all results and ends the calls of the turn, unless calls are pending: the turn then stays
    /// unfinished, and an error is returned.
    pub(super) async fn finish(&mut self) -> Result<(), AgentError> {
        let finished = self.receive_results().await;
        if self.conversation.turn().is_some_and(Turn::has_pending) {
            finished?;
            return Err(AgentError::Interrupted { pending: self.conversation.pending() });
        }
        if finished.is_err() {
            let is_kept = self.conversation.turn().and_then(Turn::end).is_some_and(|end| end.is_kept);
            self.conversation.stop_turn(is_kept);
        }
        finished
    }

    /// Waits for all results. If the run is cancelled or out of time, running calls are cancelled, and
    /// still get a result.
    async fn receive_results(&mut self) -> Result<(), AgentError> {
        let run = self.scope.run;
        let mut stopped = Ok(());
        while !self.dispatched.batch.is_empty() {
            let next = match stopped {
                // After a failed save, waits for the running calls. Then the run stops.
                Ok(()) | Err(AgentError::Store(_)) => run.until_stopped(self.next()).await,
                Err(_) => Ok(self.next().await),
            };
            match next {
                Ok(Some(result)) => {
                    self.keep(result);
                    // One save contains all results that are ready.
                    while let Some(result) = self.next_ready().await {
                        self.keep(result);
                    }
                    if !self.dispatched.batch.is_empty()
                        && let Err(error) = run.save(self.conversation).await
                    {
                        self.caller.set_unsaved();
                        if !matches!(error, AgentError::Store(_)) {
                            self.dispatched.batch.cancel();
                        }
                        stopped = stopped.and(Err(error));
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    self.dispatched.batch.cancel();
                    stopped = Err(error);
                }
            }
        }
        stopped?;
        run.check_cancelled()
    }

    /// Cancels running calls, and adds results for all remaining ones.
    pub(super) async fn stop(mut self) {
        self.dispatched.batch.cancel();
        while let Some(result) = self.next().await {
            self.keep(result);
        }
        let turn = self.conversation.turn();
        let unanswered = turn.map(Turn::unanswered).unwrap_or_default();
        for position in unanswered {
            if position >= self.dispatched.handled
                && let Some(result) = self.conversation.not_started(position)
            {
                self.keep(result);
            }
        }
    }
}
