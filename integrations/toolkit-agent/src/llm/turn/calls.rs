//! The tool calls of one turn, from their start to their results.

use super::pieces::Pieces;
use super::refusal::{parallel_call_refused, refusal, repeated};
use super::repetitions::Repetitions;
use super::restart::Restart;
use crate::agent::{Called, Caller};
use crate::conversation::{Conversation, Entry, Turn, describe_interrupted, is_final};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::llm::answer::FinalAnswer;
use crate::llm::context::meter::Meter;
use crate::llm::guards::Guards;
use crate::llm::scope::TurnScope;
use futures_core::Stream;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use toolkit_core::{Batch, Dispatcher, ToolCall, ToolError, ToolRegistry, ToolResult};
use toolkit_llm::{FinishReason, ModelError};

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
    pub(super) dispatch: Dispatch,
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
pub(super) struct Dispatch {
    batch: Batch,
    registry: Arc<ToolRegistry>,
    /// The index in the turn of each call in `batch`.
    indexes: Vec<usize>,
    /// The number of calls started or refused so far, the first in the message.
    pub(super) started: usize,
    /// The calls after the `started` ones that already count.
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
    started: Vec<usize>,
}

impl Dispatch {
    pub(super) fn new(dispatcher: &Dispatcher) -> Self {
        let (batch, registry) = (dispatcher.batch([]), dispatcher.registry());
        Self {
            batch,
            registry,
            indexes: Vec::new(),
            started: 0,
            counted: VecDeque::new(),
            has_invalid: false,
        }
    }
}

impl TurnCalls<'_> {
    /// Forgets the calls of an attempt that failed before any of them started.
    pub(super) fn forget(&mut self) {
        self.dispatch.counted.clear();
        self.dispatch.has_invalid = false;
    }

    /// Records the counted calls, saves the conversation, and starts the calls. After a crash, no refused
    /// call runs and no other call runs twice.
    pub(super) async fn admit(&mut self, NewCalls { refused, started }: NewCalls) -> Result<(), AgentError> {
        refused.into_iter().for_each(|result| self.keep(result));
        self.conversation.start_calls(started);
        if self.conversation.turn_message().is_some_and(|message| !message.calls.is_empty()) {
            self.scope.run.save(self.conversation).await?;
        }
        self.start();
        Ok(())
    }

    pub(super) fn counted(&self) -> usize {
        self.dispatch.started + self.dispatch.counted.len()
    }

    /// Counts new calls for the limits. Calls beyond a limit, repeated too often, after an invalid answer,
    /// or parallel although forbidden are refused with an error result. What the run has spent goes into
    /// the log before the entries that tell why.
    ///
    /// The first call of a tool with earlier calls waits for a decision, and counts once it runs.
    pub(super) fn count(&mut self, calls: &[ToolCall]) -> NewCalls {
        let mut refused = Vec::new();
        let mut started = Vec::new();
        for (position, call) in (self.counted()..).zip(calls) {
            let refusal = if self.attempt.one_call && position > 0 && !self.answer.is_in(call) {
                Some(parallel_call_refused())
            } else if !self.dispatch.has_invalid
                && let Some(waits) = repeated(self.conversation, &self.dispatch.registry, call)
            {
                Some(waits)
            } else {
                refusal(self.scope.run, self.answer, self.repetitions, call, self.dispatch.has_invalid)
            };
            self.dispatch.has_invalid |= self.answer.is_invalid(call);
            let counted = match refusal {
                Some(error) => {
                    refused.push(ToolResult::of(call, Err(error)).with_position(position));
                    CountedCall::Refused
                }
                None => {
                    started.push(position);
                    CountedCall::Runs
                }
            };
            self.dispatch.counted.push_back(counted);
        }
        self.conversation.log_spent(|| self.scope.run.0.budget.sum_of_run());
        NewCalls { refused, started }
    }

    fn start(&mut self) {
        if self.dispatch.started == 0 && !self.dispatch.counted.is_empty() {
            self.caller.called.begin_turn(self.conversation);
        }
        while let Some(counted) = self.dispatch.counted.pop_front() {
            let position = self.dispatch.started;
            let message = self.conversation.turn_message();
            let Some(call) = message.and_then(|message| message.calls.get(position)).cloned() else { return };
            self.dispatch.started += 1;
            match counted {
                CountedCall::Runs => self.dispatch(position, call),
                CountedCall::Refused => drop(self.caller.called.add(call.id)),
            }
        }
    }

    fn dispatch(&mut self, position: usize, mut call: ToolCall) {
        let outcome = self.answer.outcome(&call);
        let id = self.caller.called.add(call.id.clone());
        if let Some(outcome) = outcome {
            return self.keep(ToolResult::of(&call, outcome).with_position(position));
        }
        if let Some(unfinished) = self.conversation.take_called(position) {
            self.caller.called.keep(position, unfinished);
        }
        call.id = id;
        self.dispatch.indexes.push(position);
        self.dispatch.batch.push(call);
    }

    /// Adds the results in `restart` to the unfinished turn, and starts its calls.
    pub(super) async fn restart(&mut self, mut restart: Restart, guards: &Guards) -> Result<(), AgentError> {
        let Some(message) = self.conversation.arrived_message().cloned() else { return Ok(()) };
        self.dispatch.started = message.calls.len();
        let decided = guards.decided(self.scope, &message.calls, &mut restart.results);
        self.scope.run.until_stopped(decided).await?;
        if !self.pieces.are_held(&message, self.answer) {
            // Text before calls is no answer, so its events come before those of the calls.
            self.pieces.buffer.emit(self.scope.run);
        }
        self.conversation.apply_state_changes();
        if self.conversation.turn().is_some_and(|turn| turn.end().is_none()) {
            self.conversation.end_message(message.clone(), FinishReason::Interrupted, false);
            if !self.pieces.are_held(&message, self.answer) {
                self.pieces.emit_restarted(&message);
            }
        }
        let mut pending = Vec::new();
        for position in &restart.positions {
            if let Some(reason) = self.conversation.turn().and_then(|turn| turn.pending(*position)) {
                pending.push((*position, reason.clone()));
            }
        }
        let decisions = &self.scope.run.0.place.decisions;
        for position in &restart.positions {
            if self.conversation.turn().is_some_and(|turn| !turn.has_started(*position)) {
                // The earlier run may have stopped before it counted the call.
                self.scope.run.0.budget.take_tool_call();
            }
            let id = self.conversation.path_of_call(*position);
            self.conversation.decide(*position, decisions.get(&id).cloned(), decisions.decider(&id));
        }
        for result in std::mem::take(&mut restart.results) {
            let position = result.position;
            self.keep(result);
            let id = self.conversation.path_of_call(position);
            if let Some(decision) = decisions.get(&id).cloned() {
                self.conversation.note_decided(position, decision, decisions.decider(&id));
            }
        }
        self.conversation.start_calls(restart.positions.clone());
        // Saved before the calls run, so that they are not pending again after a crash.
        if let Err(error) = self.scope.run.save(self.conversation).await {
            for (call, reason) in pending {
                self.conversation.record(Entry::Pending { call, reason });
            }
            return Err(error);
        }
        if self.pieces.are_held(&message, self.answer) {
            // The earlier run has not emitted it, because the answer was not checked.
            self.pieces.buffer.push_message(&message, &self.pieces.message_id, self.scope.run);
        }
        self.caller.called.begin_turn(self.conversation);
        let mut positions = std::mem::take(&mut restart.positions).into_iter().peekable();
        for (position, call) in message.calls.into_iter().enumerate() {
            match positions.next_if_eq(&position) {
                Some(_) => self.dispatch(position, restart.changed(position, call)),
                None => drop(self.caller.called.add(call.id)),
            }
        }
        Ok(())
    }

    /// Waits for the next result. `None` if no call is running.
    pub(super) async fn next(&mut self) -> Option<ToolResult> {
        if self.dispatch.batch.is_empty() {
            // An empty batch is not polled, because calls may be added later.
            return None;
        }
        let result = self.dispatch.batch.next().await?;
        Some(self.received(result))
    }

    /// Returns a result that is already there, without waiting.
    async fn next_ready(&mut self) -> Option<ToolResult> {
        let next = poll_fn(|cx| match Pin::new(&mut self.dispatch.batch).poll_next(cx) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => Poll::Ready(None),
        });
        let result = next.await?;
        Some(self.received(result))
    }

    /// Records a result for the detection of repeated calls, and gives it the position in the turn and the
    /// provider's id.
    fn received(&mut self, mut result: ToolResult) -> ToolResult {
        let position = self.dispatch.indexes.get(result.position).copied().unwrap_or(result.position);
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
        match (self.caller.called.take(result.position), &result.outcome) {
            // The agent has not begun again, so its result is lost unless it can still be decided.
            (Some(Called { child, has_stopped: false }), Err(error))
                if is_final(error) || (!child.is_pending() && error.pending().is_none()) =>
            {
                result.outcome = Err(describe_interrupted(error, child));
            }
            // An agent called as a tool may have stopped with pending calls, to be decided later.
            (Some(Called { child, .. }), _) if child.is_pending() => {
                self.conversation.return_called(result.position, child);
                if result.error().is_some_and(|error| error.pending().is_none()) {
                    result.outcome = Err(ToolError::deferred(result.name.as_str()));
                }
            }
            _ => {}
        }
        let agent = || self.scope.agent.to_owned();
        match result.error().and_then(ToolError::pending).cloned() {
            None if self.is_hidden(&result) => {}
            None => self.scope.run.emit(|| RunEvent::Result {
                agent: agent(),
                key: self.conversation.path_of_call(result.position).into(),
                result: Box::new(result.clone()),
                within: self.scope.run.within(),
            }),
            Some(reason) => {
                if self.scope.run.0.place.is_tracked {
                    self.scope.run.emit(|| RunEvent::CallPending {
                        agent: agent(),
                        key: self.conversation.path_of_call(result.position).into(),
                        call_id: result.call_id.clone(),
                        reason,
                        within: self.scope.run.within(),
                    });
                }
            }
        }
        self.conversation.add_result(result);
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
        while !self.dispatch.batch.is_empty() {
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
                    if !self.dispatch.batch.is_empty()
                        && let Err(error) = run.save(self.conversation).await
                    {
                        self.caller.set_unsaved();
                        if !matches!(error, AgentError::Store(_)) {
                            self.dispatch.batch.cancel();
                        }
                        stopped = stopped.and(Err(error));
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    self.dispatch.batch.cancel();
                    stopped = Err(error);
                }
            }
        }
        stopped?;
        run.check_cancelled()
    }

    /// Cancels running calls, and adds results for all remaining ones.
    pub(super) async fn stop(mut self) {
        self.dispatch.batch.cancel();
        while let Some(result) = self.next().await {
            self.keep(result);
        }
        let turn = self.conversation.turn();
        let unanswered = turn.map(Turn::unanswered).unwrap_or_default();
        for position in unanswered {
            if position >= self.dispatch.started
                && let Some(result) = self.conversation.not_started(position)
            {
                self.keep(result);
            }
        }
    }
}
