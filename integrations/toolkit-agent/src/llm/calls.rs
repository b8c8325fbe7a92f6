//! The tool calls of one turn, from start to result.

use super::failures::Failures;
use crate::agent::Run;
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use toolkit_core::{Batch, ErrorKind, ToolCall, ToolError, ToolResult};

/// The tool calls of one turn.
pub(super) struct TurnCalls<'a> {
    pub(super) conversation: &'a mut Conversation,
    pub(super) run: &'a Run,
    pub(super) agent: &'a str,
    pub(super) batch: Batch,
    pub(super) failures: &'a mut Failures,
    /// All calls of the turn so far, including calls refused because of a limit.
    pub(super) started: Vec<ToolCall>,
    /// For each call in `batch`, the index of the call in `started`.
    pub(super) dispatched: Vec<usize>,
}

impl TurnCalls<'_> {
    /// Starts a call, or adds an error result if a limit is reached.
    pub(super) fn start(&mut self, call: ToolCall) {
        let position = self.started.len();
        self.started.push(call.clone());
        match self.refusal(&call) {
            Some(error) => self.keep(ToolResult::of(&call, Err(error)).with_position(position)),
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
            (!self.run.0.budget.take_tool_call()).then(error)
        };
        self.failures.refusal(call).or_else(limit)
    }

    /// Waits for the next result. Returns `None` if no call is running.
    pub(super) async fn next(&mut self) -> Option<ToolResult> {
        if self.batch.is_empty() {
            // More calls may be added to the batch later.
            return None;
        }
        let result = self.batch.next().await?;
        let position = self.dispatched.get(result.position).copied().unwrap_or(result.position);
        if let Some(call) = self.started.get(position) {
            self.failures.record(call, &result);
        }
        Some(result.with_position(position))
    }

    /// Adds a result to the turn and emits `RunEvent::Result`.
    pub(super) fn keep(&mut self, result: ToolResult) {
        self.run.emit(|| RunEvent::Result { agent: self.agent.to_owned(), result: Box::new(result.clone()) });
        self.conversation.add_result(result);
    }

    /// Waits for all results. If the run stops, the running calls are cancelled, and each still gets a
    /// result.
    pub(super) async fn finish(&mut self) -> Result<(), AgentError> {
        let run = self.run;
        let mut stopped = Ok(());
        while !self.batch.is_empty() {
            let next = match stopped {
                Ok(()) => run.until_stopped(self.next()).await,
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
