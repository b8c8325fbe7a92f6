//! The tool calls of one turn, from their start to their results.

use super::answer::FinalAnswer;
use super::guards::Guards;
use super::held::Held;
use super::meter::Meter;
use super::refusal::{beside_another, refusal};
use super::repetitions::Repetitions;
use super::restart::Restart;
use super::situation::GuardScope;
use crate::agent::{Caller, Run};
use crate::conversation::{Conversation, is_final, with_account};
use crate::error::AgentError;
use crate::event::RunEvent;
use futures_core::Stream;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use toolkit_core::{Batch, ToolCall, ToolError, ToolResult};
use toolkit_llm::AssistantMessage;
use toolkit_llm::HostedCall;
use toolkit_llm::model::{FinishReason, ModelError, ModelResponse};

/// The tool calls of one turn, with the state needed to run them and to emit events.
pub(super) struct TurnCalls<'a> {
    pub(super) conversation: &'a mut Conversation,
    pub(super) run: &'a Run,
    pub(super) agent: &'a str,
    pub(super) batch: Batch,
    pub(super) repetitions: &'a mut Repetitions,
    pub(super) meter: &'a mut Meter,
    /// The number of calls started so far, including refused calls. They are the first calls in the message
    /// of the turn.
    pub(super) started: usize,
    /// The index in the turn of each call in `batch`.
    pub(super) dispatched: Vec<usize>,
    /// The calls after the `started` ones that already count for the limits. `true` marks a refused call,
    /// whose error result is already in the turn.
    pub(super) counted: VecDeque<bool>,
    /// Whether a counted call has given an invalid answer.
    pub(super) has_invalid: bool,
    /// Whether the request allows only one call per message. Some servers and providers ignore this setting.
    pub(super) one_call: bool,
    /// The run and the agents called as tools in this turn.
    pub(super) caller: &'a Arc<Caller>,
    pub(super) answer: &'a FinalAnswer<'a>,
    pub(super) scope: GuardScope<'a>,
    /// Whether the input is checked at the same time as the model answers, or the response is checked afterwards.
    /// Then no call starts before the complete response, and the turn stays empty until the checks have passed.
    pub(super) is_unchecked: bool,
    /// Becomes `true` when the guardrails have accepted the input. Until then, no event of the response is
    /// emitted.
    pub(super) gate: &'a AtomicBool,
    pub(super) held: &'a mut Held,
    /// Whether text events wait until guardrails have checked the text.
    pub(super) hold_text: bool,
    /// Whether the events of all pieces wait until guardrails have checked the response.
    pub(super) hold_pieces: bool,
    /// The error of the stream, if the response broke off after a call had started.
    pub(super) broken: Option<ModelError>,
    /// Whether a piece of the answer has arrived in the latest attempt.
    pub(super) has_begun: bool,
}

impl<'a> TurnCalls<'a> {
    /// Returns whether the provider bills the latest attempt, which has failed with this error.
    pub(super) fn is_billed(&self, error: &ModelError) -> bool {
        self.has_begun || error.partial.is_some()
    }

    /// Emits a piece of the response, or holds it back.
    pub(super) fn emit_piece(&mut self, is_held: bool, event: impl FnOnce() -> RunEvent) {
        if !self.run.has_listener() {
            return;
        }
        // Events after a stored event are stored too, to preserve their order.
        let is_behind = self.hold_text && !self.held.is_empty();
        if is_held || is_behind || !self.gate.load(Ordering::Relaxed) {
            return self.held.push(event());
        }
        self.held.emit(self.run);
        self.run.emit(event);
    }

    /// Emits the complete message of the model. If the message contains an answer and text events wait for
    /// checks, the event waits, too.
    pub(super) fn emit_message(&mut self, message: &AssistantMessage, hosted: &[HostedCall]) {
        let run = self.run;
        let event = || RunEvent::Message { message: Box::new(message.clone()), within: run.within() };
        if self.hold_pieces {
            // A check may have changed the response, so the pieces are replaced with those of the new response.
            self.held.clear();
            let agent = || self.agent.to_owned();
            let within = || run.within();
            let said = |text: &String| (!text.is_empty()).then(|| text.clone());
            if let Some(text) = said(&message.reasoning) {
                self.held.push(RunEvent::Reasoning { agent: agent(), text, within: within() });
            }
            for call in hosted {
                let call = Box::new(call.clone());
                self.held.push(RunEvent::HostedCall { agent: agent(), call, within: within() });
            }
            if let Some(text) = said(&message.text) {
                self.held.push(RunEvent::Text { agent: agent(), text, within: within() });
            }
        }
        if self.is_held(message) {
            return self.held.push(event());
        }
        self.held.emit(self.run);
        self.run.emit(event);
    }

    /// Returns whether the event of a message waits for the check of its answer.
    fn is_held(&self, message: &AssistantMessage) -> bool {
        let is_answer = message.calls.is_empty() || message.calls.iter().any(|call| self.answer.is_in(call));
        is_answer && self.hold_text
    }

    /// Forgets the calls of an attempt that has failed before any of them started.
    pub(super) fn forget(&mut self) {
        self.counted.clear();
        self.has_invalid = false;
    }

    /// Counts new calls of the turn for the limits. Refused calls get an error result: calls beyond a limit,
    /// calls repeated too often, calls after an invalid answer, and parallel calls that the request has
    /// forbidden.
    ///
    /// Called before the save that precedes the start of calls, so that a refused call does not run after a
    /// crash.
    pub(super) fn count(&mut self) {
        let calls = &self.conversation.turn().message().calls;
        let counted = self.started + self.counted.len();
        let mut refused = Vec::new();
        for (position, call) in calls.iter().enumerate().skip(counted) {
            let refusal = if self.one_call && position > 0 && !self.answer.is_in(call) {
                Some(beside_another())
            } else {
                refusal(self.run, self.answer, self.repetitions, call, self.has_invalid)
            };
            self.has_invalid |= self.answer.is_invalid(call);
            self.counted.push_back(refusal.is_some());
            refused.extend(refusal.map(|error| ToolResult::of(call, Err(error)).with_position(position)));
        }
        refused.into_iter().for_each(|result| self.keep(result));
    }

    /// Starts all calls that were counted, except for refused calls.
    pub(super) fn start(&mut self) {
        if self.started == 0 && !self.counted.is_empty() {
            self.caller.called.begin_calls(self.conversation);
        }
        while let Some(is_refused) = self.counted.pop_front() {
            let position = self.started;
            self.started += 1;
            let Some(call) = self.conversation.turn().message().calls.get(position).cloned() else { return };
            if is_refused { self.caller.called.add(call.id, false) } else { self.dispatch(position, call) }
        }
    }

    fn dispatch(&mut self, position: usize, call: ToolCall) {
        let outcome = self.answer.outcome(&call);
        self.caller.called.add(call.id.clone(), outcome.is_none());
        if let Some(outcome) = outcome {
            return self.keep(ToolResult::of(&call, outcome).with_position(position));
        }
        if let Some(unfinished) = self.conversation.take_called(position) {
            self.caller.called.keep(position, unfinished);
        }
        self.dispatched.push(position);
        self.batch.push(call);
    }

    /// Continues the unfinished turn of the conversation: adds the results in `restart`, and starts its
    /// calls.
    pub(super) async fn restart(
        &mut self,
        mut restart: Restart,
        guards: &Guards,
    ) -> Result<ModelResponse, AgentError> {
        self.started = self.conversation.turn().message().calls.len();
        let calls = &self.conversation.turn().message().calls;
        self.run.until_stopped(guards.decided(self.scope, calls, &mut restart.results)).await?;
        let before = self.conversation.turn().clone();
        if !self.is_held(before.message()) {
            // Text before calls is no answer, so its events come before those of the calls.
            self.held.emit(self.run);
            self.conversation.set_checked();
        }
        let changes = self.conversation.turn().take_state_changes();
        self.conversation.session().apply(&changes);
        for position in &restart.positions {
            self.conversation.turn().restart(*position);
        }
        for result in restart.results {
            self.conversation.turn().restart(result.position);
            self.keep(result);
        }
        // Saved before the calls run, so that they are not pending again after a crash.
        if let Err(error) = self.run.save(self.conversation).await {
            self.conversation.restore_turn(before);
            return Err(error);
        }
        let message = before.message();
        if self.is_held(message) {
            // The earlier run has not emitted it, because the answer was not checked.
            let run = self.run;
            let message = Box::new(message.clone());
            self.held.push(RunEvent::Message { message, within: run.within() });
        }
        self.caller.called.begin_calls(self.conversation);
        let mut positions = restart.positions.into_iter().peekable();
        for (position, call) in message.calls.iter().cloned().enumerate() {
            match positions.next_if_eq(&position) {
                Some(_) => self.dispatch(position, call),
                None => self.caller.called.add(call.id, false),
            }
        }
        let mut response = ModelResponse::text(message.text.as_str());
        if self.answer.has_form() {
            response.message.calls.clone_from(&message.calls);
        }
        Ok(response.with_finish(FinishReason::ToolCalls))
    }

    /// Waits for the next result of a running call. Returns `None` if no call is running.
    pub(super) async fn next(&mut self) -> Option<ToolResult> {
        if self.batch.is_empty() {
            // An empty batch is not polled, because calls may be added later.
            return None;
        }
        let result = self.batch.next().await?;
        Some(self.received(result))
    }

    /// Returns the result of a call that has already ended, without waiting. Returns `None` if there is none.
    async fn next_ready(&mut self) -> Option<ToolResult> {
        let next = |cx: &mut Context<'_>| match Pin::new(&mut self.batch).poll_next(cx) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => Poll::Ready(None),
        };
        let result = poll_fn(next).await?;
        Some(self.received(result))
    }

    /// Records a result for the detection of repeated calls, and sets its position to the index of the call
    /// in the turn.
    fn received(&mut self, result: ToolResult) -> ToolResult {
        let position = self.dispatched.get(result.position).copied().unwrap_or(result.position);
        if let Some(call) = self.conversation.turn().message().calls.get(position) {
            self.repetitions.record(call, &result);
        }
        result.with_position(position)
    }

    /// Adds a result to the turn and emits an event. If the result is an error of the kind `Pending`, marks
    /// the call as pending instead.
    pub(super) fn keep(&mut self, mut result: ToolResult) {
        match (self.caller.called.take(result.position), &result.outcome) {
            // The agent has not begun again, so its result is lost unless it can still be decided.
            (Some((child, false)), Err(error))
                if is_final(error) || child.pending().is_empty() && error.pending().is_none() =>
            {
                result.outcome = Err(with_account(error, child));
            }
            // An agent called as a tool may have stopped with pending calls. They can be decided later.
            (Some((child, _)), _) if !child.pending().is_empty() => {
                self.conversation.keep_called(result.position, child);
                if result.error().is_some_and(|error| error.pending().is_none()) {
                    result.outcome = Err(ToolError::deferred(result.name.as_str()));
                }
            }
            _ => {}
        }
        let agent = || self.agent.to_owned();
        match result.error().and_then(ToolError::pending).cloned() {
            None => self.run.emit(|| RunEvent::Result {
                agent: agent(),
                result: Box::new(result.clone()),
                within: self.run.within(),
            }),
            Some(reason) => {
                let call_id = result.call_id.clone();
                if let Some(prefix) = &self.run.0.prefix {
                    self.run.emit(|| RunEvent::CallPending {
                        agent: agent(),
                        id: format!("{prefix}{}", self.caller.called.key(result.position)),
                        call_id,
                        reason,
                        within: self.run.within(),
                    });
                }
            }
        }
        self.conversation.add_result(result);
    }

    /// Adds the turn to the conversation after all calls have ended. `finished` is the result of
    /// [`finish`](Self::finish). Returns the results in the order of the calls.
    ///
    /// If calls are pending, the turn stays unfinished, and an error is returned.
    pub(super) fn end_turn(
        self,
        finished: Result<(), AgentError>,
        is_kept: bool,
    ) -> Result<&'a [ToolResult], AgentError> {
        self.caller.called.end_calls(self.conversation);
        if self.conversation.turn().has_pending() {
            // The batch has already applied the changes to the session.
            self.conversation.turn().take_state_changes();
            finished?;
            return Err(AgentError::Interrupted { pending: Vec::new() });
        }
        let Self { conversation, .. } = self;
        if let Err(error) = finished {
            conversation.stop_turn(is_kept);
            return Err(error);
        }
        Ok(conversation.end_turn(is_kept))
    }

    /// Waits for the results of all calls. If the run is cancelled or out of time, cancels the running calls.
    /// Each of them still gets a result.
    pub(super) async fn finish(&mut self) -> Result<(), AgentError> {
        let run = self.run;
        let mut stopped = Ok(());
        while !self.batch.is_empty() {
            let next = match stopped {
                // After a failed save, waits for the running calls. Then the run stops.
                Ok(()) | Err(AgentError::Store(_)) => run.until_stopped(self.next()).await,
                Err(_) => Ok(self.next().await),
            };
            match next {
                Ok(Some(result)) => {
                    self.keep(result);
                    // Also takes other results that are ready, so that one save contains them all.
                    while let Some(result) = self.next_ready().await {
                        self.keep(result);
                    }
                    if !self.batch.is_empty()
                        && let Err(error) = run.save(self.conversation).await
                    {
                        self.caller.set_unsaved();
                        if !matches!(error, AgentError::Store(_)) {
                            self.batch.cancel();
                        }
                        stopped = stopped.and(Err(error));
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    self.batch.cancel();
                    stopped = Err(error);
                }
            }
        }
        stopped?;
        run.check_cancelled()
    }

    /// Cancels the running calls and adds all remaining results to the turn, also of calls that were not started.
    pub(super) async fn stop(mut self) {
        self.batch.cancel();
        while let Some(result) = self.next().await {
            self.keep(result);
        }
        self.conversation.set_not_begun(self.started);
        self.caller.called.end_calls(self.conversation);
    }
}
