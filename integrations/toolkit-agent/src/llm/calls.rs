//! The tool calls of one turn, from start to result.

use super::failures::Failures;
use crate::agent::Run;
use crate::conversation::{Conversation, Turn};
use crate::error::AgentError;
use crate::event::RunEvent;
use toolkit_core::{Batch, Dispatcher, ErrorKind, ToolCall, ToolError, ToolResult};

/// The tool calls of one turn.
pub(super) struct TurnCalls<'a> {
    run: Run,
    agent: &'a str,
    batch: Batch,
    failures: &'a mut Failures,
    /// All calls so far.
    calls: Vec<ToolCall>,
    /// For each call of the batch, its position among all calls.
    dispatched: Vec<usize>,
}

impl<'a> TurnCalls<'a> {
    pub(super) fn new(
        dispatcher: &Dispatcher,
        run: &Run,
        agent: &'a str,
        failures: &'a mut Failures,
    ) -> Self {
        let batch = dispatcher.batch([]);
        Self { run: run.clone(), agent, batch, failures, calls: Vec::new(), dispatched: Vec::new() }
    }

    /// Returns the started calls.
    pub(super) fn started(&self) -> &[ToolCall] {
        &self.calls
    }

    /// Starts a call, or answers it with an error at a limit.
    pub(super) fn start(&mut self, call: ToolCall, turn: &mut Turn) {
        let position = self.calls.len();
        self.calls.push(call.clone());
        match self.refusal(&call) {
            Some(error) => {
                self.keep(ToolResult::of(&call, Err(error)).with_position(position), turn);
            }
            None => {
                self.dispatched.push(position);
                self.batch.push(call);
            }
        }
    }

    fn refusal(&self, call: &ToolCall) -> Option<ToolError> {
        let limit = || {
            let text =
                "The limit of tool calls is reached and this one was not run. Answer with what you have.";
            let error = || ToolError::new(ErrorKind::Denied, text).with_brief("Too many tool calls");
            (!self.run.budget().take_tool_call()).then(error)
        };
        self.failures.refusal(call).or_else(limit)
    }

    /// Waits for the next result. Returns `None` if no call runs.
    pub(super) async fn next(&mut self) -> Option<ToolResult> {
        if self.batch.is_empty() {
            // The batch has not ended: more calls may come.
            return None;
        }
        let result = self.batch.next().await?;
        let position = self.dispatched.get(result.position).copied().unwrap_or(result.position);
        if let Some(call) = self.calls.get(position) {
            self.failures.record(call, &result);
        }
        Some(result.with_position(position))
    }

    /// Adds a result to the turn and emits it.
    pub(super) fn keep(&self, result: ToolResult, turn: &mut Turn) {
        self.run.emit(|| RunEvent::Result { agent: self.agent.to_owned(), result: Box::new(result.clone()) });
        turn.results.push(result);
    }

    /// Waits for all results. A stopped run cancels its calls; each still gets a result.
    pub(super) async fn finish(mut self, conversation: &mut Conversation) -> Result<(), AgentError> {
        let run = self.run.clone();
        let mut stopped = Ok(());
        while !self.batch.is_empty() {
            let next = match stopped {
                Ok(()) => run.until_stopped(self.next()).await,
                Err(_) => Ok(self.next().await),
            };
            match next {
                Ok(Some(result)) => {
                    self.keep(result, conversation.turn());
                    if !self.batch.is_empty() {
                        stopped = stopped.and(run.save(conversation).await);
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

    /// Cancels the running calls and keeps the results of the others.
    pub(super) async fn stop(mut self, conversation: &mut Conversation) {
        self.batch.cancel();
        while let Some(result) = self.next().await {
            self.keep(result, conversation.turn());
        }
    }
}

/// Returns the calls without the others. Calls with the same id count separately.
pub(super) fn without(calls: &[ToolCall], others: &[ToolCall]) -> Vec<ToolCall> {
    let mut others: Vec<&ToolCall> = others.iter().collect();
    let is_new = |call: &&ToolCall| {
        let same = others.iter().position(|other| other.id == call.id && other.name == call.name);
        same.map(|at| others.swap_remove(at)).is_none()
    };
    calls.iter().filter(is_new).cloned().collect()
}
