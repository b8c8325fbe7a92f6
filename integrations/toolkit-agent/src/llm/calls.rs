//! The tool calls of one turn, from start to result.

use super::answer::FinalAnswer;
use super::guards::{Guards, Situation};
use super::held::Held;
use super::repetitions::Repetitions;
use super::restart::Restart;
use crate::agent::{CalledAgents, Run};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::message::AssistantMessage;
use crate::model::{FinishReason, ModelError, ModelResponse};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use toolkit_core::{Batch, ErrorKind, ToolCall, ToolError, ToolResult};

/// The tool calls of one turn.
pub(super) struct TurnCalls<'a> {
    pub(super) conversation: &'a mut Conversation,
    pub(super) run: &'a Run,
    pub(super) agent: &'a str,
    pub(super) batch: Batch,
    pub(super) repetitions: &'a mut Repetitions,
    /// All calls of the turn so far, including refused calls.
    pub(super) started: Vec<ToolCall>,
    /// For each call in `batch`, the index of the call in `started`.
    pub(super) dispatched: Vec<usize>,
    /// The agents called as tools in this turn.
    pub(super) called: Arc<CalledAgents>,
    pub(super) answer: &'a FinalAnswer<'a>,
    pub(super) situation: &'a Situation,
    /// Whether the input is checked at the same time as the model answers. No call starts before the complete
    /// response then, and the turn stays empty.
    pub(super) is_beside: bool,
    /// `true` if the input has passed its checks.
    pub(super) gate: &'a AtomicBool,
    pub(super) held: &'a mut Held,
    /// Whether the text of the response is held back until it was checked.
    pub(super) hold_text: bool,
    /// The error of the stream, if the answer broke off after a call was started.
    pub(super) broken: Option<ModelError>,
}

impl TurnCalls<'_> {
    /// Emits a piece of the response, or holds it back.
    pub(super) fn emit_piece(&mut self, is_held: bool, event: impl FnOnce() -> RunEvent) {
        if !self.run.has_listener() {
            return;
        }
        if is_held || !self.gate.load(Ordering::Relaxed) {
            return self.held.push(event());
        }
        self.held.emit(self.run);
        self.run.emit(event);
    }

    /// Emits the complete message of the model. A message with an answer is held back until it was checked.
    pub(super) fn emit_message(&mut self, message: &AssistantMessage, guards: &Guards) {
        let run = self.run;
        let event = || RunEvent::Message { message: Box::new(message.clone()), within: run.within() };
        if guards.checks_responses && self.hold_text {
            // A check may have changed the text.
            self.held.clear();
            if !message.text.is_empty() {
                let (agent, text) = (self.agent.to_owned(), message.text.clone());
                self.held.push(RunEvent::Text { agent, text, within: run.within() });
            }
        }
        let is_answer = message.calls.is_empty() || message.calls.iter().any(|call| self.answer.is_in(call));
        if is_answer && self.hold_text {
            return self.held.push(event());
        }
        self.held.emit(self.run);
        self.run.emit(event);
    }

    /// Starts a call, or adds an error result if there is a [`refusal`](Self::refusal).
    pub(super) fn start(&mut self, call: ToolCall, refusal: Option<ToolError>) {
        let position = self.started.len();
        self.started.push(call.clone());
        match refusal {
            Some(error) => self.keep(ToolResult::of(&call, Err(error)).with_position(position)),
            None => self.dispatch(position, call),
        }
    }

    fn dispatch(&mut self, position: usize, call: ToolCall) {
        if let Some(outcome) = self.answer.outcome(&call) {
            return self.keep(ToolResult::of(&call, outcome).with_position(position));
        }
        let unfinished = self.conversation.take_called(position);
        self.called.add(call.id.as_str(), position, unfinished);
        self.dispatched.push(position);
        self.batch.push(call);
    }

    /// Continues the unfinished turn of the conversation: adds the results in `restart`, and starts its
    /// calls.
    pub(super) async fn restart(&mut self, restart: Restart) -> Result<ModelResponse, AgentError> {
        let before = self.conversation.turn().clone();
        self.started = before.message().calls.clone();
        let changes = self.conversation.turn().take_state_changes();
        self.conversation.session().apply(&changes);
        for position in &restart.positions {
            self.conversation.turn().restart(*position);
        }
        for result in restart.results {
            self.conversation.turn().restart(result.position);
            self.keep(result);
        }
        // Save before the calls run: after a crash, they must not be pending again.
        if let Err(error) = self.run.save(self.conversation).await {
            self.conversation.restore_turn(before);
            return Err(error);
        }
        for position in restart.positions {
            if let Some(call) = self.started.get(position).cloned() {
                self.dispatch(position, call);
            }
        }
        let message = self.conversation.turn().message().clone();
        Ok(ModelResponse { message, ..ModelResponse::default() }.with_finish(FinishReason::ToolCalls))
    }

    /// Counts a call before it is saved and started. Returns an error if the call exceeds a limit or is
    /// repeated too often.
    pub(super) fn refusal(&self, call: &ToolCall) -> Option<ToolError> {
        if self.answer.is_in(call) {
            return None;
        }
        let limit = || {
            let text =
                "The limit of tool calls is reached and this one was not run. Answer with what you have.";
            let error = || ToolError::new(ErrorKind::Denied, text).with_brief("Too many tool calls");
            (!self.run.0.budget.take_tool_call()).then(error)
        };
        self.answer.refusal(call).or_else(|| self.repetitions.refusal(call)).or_else(limit)
    }

    /// Waits for the next result. Returns `None` if no call is running.
    pub(super) async fn next(&mut self) -> Option<ToolResult> {
        if self.batch.is_empty() {
            // Do not wait for the empty batch: more calls may be added later.
            return None;
        }
        let result = self.batch.next().await?;
        let position = self.dispatched.get(result.position).copied().unwrap_or(result.position);
        if let Some(call) = self.started.get(position) {
            self.repetitions.record(call, &result);
        }
        Some(result.with_position(position))
    }

    /// Adds a result to the turn, or records the call as pending. Emits an event.
    pub(super) fn keep(&mut self, mut result: ToolResult) {
        // An agent called as a tool may have stopped with pending calls. They can be decided later.
        if let Some(child) = self.called.take(result.position).filter(|child| !child.pending().is_empty()) {
            self.conversation.keep_called(result.position, child);
            if result.error().is_some_and(|error| error.pending().is_none()) {
                result.outcome = Err(ToolError::deferred(result.name.as_str()));
            }
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
                self.run.emit(|| RunEvent::CallPending {
                    agent: agent(),
                    call_id,
                    reason,
                    within: self.run.within(),
                });
            }
        }
        self.conversation.add_result(result);
    }

    /// Waits for all results, and adds the turn to the conversation. Returns the results in the order of the
    /// calls.
    ///
    /// If calls are pending, the turn stays unfinished.
    pub(super) async fn end_turn(mut self, is_kept: bool) -> Result<Vec<ToolResult>, AgentError> {
        let finished = self.finish().await;
        if self.conversation.turn().has_pending() {
            // The batch has already applied the changes to the session.
            self.conversation.turn().take_state_changes();
            finished?;
            return Err(AgentError::Interrupted { pending: Vec::new() });
        }
        let results = self.conversation.end_turn(is_kept);
        finished.map(|()| results)
    }

    /// Waits for all results. If the run is cancelled or out of time, the running calls are cancelled, and
    /// each of them still gets a result.
    async fn finish(&mut self) -> Result<(), AgentError> {
        let run = self.run;
        let mut stopped = Ok(());
        while !self.batch.is_empty() {
            let next = match stopped {
                // After a failed save, wait for the running calls. Then the run stops.
                Ok(()) | Err(AgentError::Store(_)) => run.until_stopped(self.next()).await,
                Err(_) => Ok(self.next().await),
            };
            match next {
                Ok(Some(result)) => {
                    self.keep(result);
                    if !self.batch.is_empty() {
                        stopped = stopped.and(run.save(self.conversation).await);
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

    /// Cancels the running calls and adds all remaining results to the turn.
    pub(super) async fn stop(mut self) {
        self.batch.cancel();
        while let Some(result) = self.next().await {
            self.keep(result);
        }
    }
}

/// Returns the calls in `calls` that are not in `others`. Calls are compared by id and name, and each call in
/// `others` excludes at most one call.
pub(super) fn without(calls: &[ToolCall], others: &[ToolCall]) -> Vec<ToolCall> {
    let mut others: Vec<&ToolCall> = others.iter().collect();
    let is_new = |call: &&ToolCall| {
        let same = others.iter().position(|other| other.id == call.id && other.name == call.name);
        same.map(|at| others.swap_remove(at)).is_none()
    };
    calls.iter().filter(is_new).cloned().collect()
}
