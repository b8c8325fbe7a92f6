//! The calls of one turn, on their way to their results.

use super::failures::Failures;
use crate::conversation::{Conversation, Turn};
use crate::error::{AgentError, Limit};
use crate::event::RunEvent;
use crate::run::Run;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use tokio::time::sleep;
use toolkit_core::{BatchHandle, Dispatcher, ErrorKind, OpenBatch, ToolCall, ToolError, ToolResult};

/// The calls of one turn.
pub(super) struct Work<'a> {
    run: Run,
    batch: OpenBatch,
    handle: BatchHandle,
    failures: &'a mut Failures,
    /// All calls of the turn so far.
    calls: Vec<ToolCall>,
    /// For each call of the batch, which of all it is.
    dispatched: Vec<usize>,
}

impl<'a> Work<'a> {
    pub(super) fn new(dispatcher: &Dispatcher, run: &Run, failures: &'a mut Failures) -> Self {
        let handle = BatchHandle::new();
        let batch = dispatcher.open_batch(handle.clone());
        Self { run: run.clone(), batch, handle, failures, calls: Vec::new(), dispatched: Vec::new() }
    }

    /// Whether the call was started already.
    pub(super) fn has(&self, call: &ToolCall) -> bool {
        self.calls.iter().any(|known| known.id == call.id && known.name == call.name)
    }

    /// Whether anything was started.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Starts a call, or answers it if it may not run.
    pub(super) fn start(&mut self, call: ToolCall, turn: &mut Turn) {
        let position = self.calls.len();
        self.calls.push(call.clone());
        match self.refusal(&call) {
            Some(error) => {
                turn.results.push(ToolResult::of(&call, Err(error)).with_position(position));
            }
            None => {
                self.dispatched.push(position);
                self.batch.push(call);
            }
        }
    }

    fn refusal(&self, call: &ToolCall) -> Option<ToolError> {
        self.failures.refusal(call).or_else(|| {
            let text =
                "The limit of tool calls is reached and this one was not run. Answer with what you have.";
            let refused = || ToolError::new(ErrorKind::Denied, text).with_brief("Too many tool calls");
            (!self.run.budget().take_tool_call()).then(refused)
        })
    }

    /// The next result; `None` if no call runs.
    pub(super) async fn next(&mut self) -> Option<ToolResult> {
        let result = self.batch.next().await?;
        let position = self.dispatched.get(result.position).copied().unwrap_or(result.position);
        if let Some(call) = self.calls.get(position) {
            self.failures.remember(call, &result);
        }
        Some(result.with_position(position))
    }

    /// Takes over a result.
    pub(super) fn keep(&self, result: ToolResult, turn: &mut Turn, agent: &str) {
        let told = || RunEvent::Result { agent: agent.to_owned(), result: Box::new(result.clone()) };
        self.run.tell(told);
        turn.results.push(result);
    }

    /// Waits for all results. A run that is stopped stops its calls, and each has its result all the same.
    pub(super) async fn finish(
        &mut self,
        conversation: &mut Conversation,
        run: &Run,
        agent: &str,
    ) -> Result<(), AgentError> {
        let mut stopped = Ok(());
        while !self.batch.is_empty() {
            match self.step(stopped.is_ok()).await {
                Step::Result(result) => self.keep(result, conversation.turn(), agent),
                Step::Nothing => break,
                Step::Stopped(error) => {
                    self.handle.cancel();
                    stopped = Err(error);
                }
            }
        }
        self.batch.close();
        stopped.and_then(|()| run.check_cancelled())
    }

    async fn step(&mut self, may_stop: bool) -> Step {
        let run = self.run.clone();
        let time = run.budget().run_time_left();
        let mut cancelled = pin!(run.cancellation().cancelled());
        let mut time_is_over = pin!(async {
            match time {
                Some(left) => sleep(left).await,
                None => std::future::pending().await,
            }
        });
        let mut next = pin!(self.next());
        poll_fn(|context| {
            if let Poll::Ready(result) = next.as_mut().poll(context) {
                return Poll::Ready(result.map_or(Step::Nothing, Step::Result));
            }
            if may_stop && cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Step::Stopped(AgentError::Cancelled));
            }
            if may_stop && time_is_over.as_mut().poll(context).is_ready() {
                let most = run.budget().limits().max_duration.unwrap_or_default();
                return Poll::Ready(Step::Stopped(AgentError::Limit(Limit::Duration(most))));
            }
            Poll::Pending
        })
        .await
    }
}

/// What happened next.
enum Step {
    Result(ToolResult),
    Nothing,
    Stopped(AgentError),
}
