//! The calls of one turn, on their way to their results.

use super::ask::within;
use super::failures::Failures;
use crate::conversation::{Conversation, Turn};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::run::Run;
use toolkit_core::{Batch, Dispatcher, ErrorKind, ToolCall, ToolError, ToolResult};

/// The calls of one turn.
pub(super) struct Work<'a> {
    run: Run,
    agent: &'a str,
    batch: Batch,
    failures: &'a mut Failures,
    /// All calls of the turn so far.
    calls: Vec<ToolCall>,
    /// For each call of the batch, which of all it is.
    dispatched: Vec<usize>,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        dispatcher: &Dispatcher,
        run: &Run,
        agent: &'a str,
        failures: &'a mut Failures,
    ) -> Self {
        let batch = dispatcher.batch([]);
        Self { run: run.clone(), agent, batch, failures, calls: Vec::new(), dispatched: Vec::new() }
    }

    /// The calls that were started, but are not among these.
    pub(super) fn not_in(&self, calls: &[ToolCall]) -> Vec<ToolCall> {
        without(&self.calls, calls)
    }

    /// Those of a message's calls that were not started yet.
    pub(super) fn not_started(&self, calls: &[ToolCall]) -> Vec<ToolCall> {
        without(calls, &self.calls)
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
                self.keep(ToolResult::of(&call, Err(error)).with_position(position), turn);
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
        if self.batch.is_empty() {
            // The batch has not ended: more calls may come.
            return None;
        }
        let result = self.batch.next().await?;
        let position = self.dispatched.get(result.position).copied().unwrap_or(result.position);
        if let Some(call) = self.calls.get(position) {
            self.failures.remember(call, &result);
        }
        Some(result.with_position(position))
    }

    /// Takes over a result.
    pub(super) fn keep(&self, result: ToolResult, turn: &mut Turn) {
        let told = || RunEvent::Result { agent: self.agent.to_owned(), result: Box::new(result.clone()) };
        self.run.tell(told);
        turn.results.push(result);
    }

    /// Waits for all results. A run that is stopped stops its calls, and each has its result all the same.
    pub(super) async fn finish(mut self, conversation: &mut Conversation) -> Result<(), AgentError> {
        let run = self.run.clone();
        let mut stopped = Ok(());
        while !self.batch.is_empty() {
            match self.step(stopped.is_ok()).await {
                Step::Result(result) => {
                    self.keep(result, conversation.turn());
                    if !self.batch.is_empty() {
                        stopped = stopped.and(run.save(conversation).await);
                    }
                }
                Step::Nothing => break,
                Step::Stopped(error) => {
                    self.batch.cancel();
                    stopped = Err(error);
                }
            }
        }
        stopped?;
        run.check_cancelled()
    }

    /// Stops what still runs. What has ended before counts.
    pub(super) async fn stop(mut self, conversation: &mut Conversation) {
        self.batch.cancel();
        while let Some(result) = self.next().await {
            self.keep(result, conversation.turn());
        }
    }

    /// What happens next; a run that was stopped already waits for results only.
    async fn step(&mut self, may_stop: bool) -> Step {
        let run = self.run.clone();
        if !may_stop {
            return self.next().await.map_or(Step::Nothing, Step::Result);
        }
        match within(&run, self.next()).await {
            Ok(result) => result.map_or(Step::Nothing, Step::Result),
            Err(error) => Step::Stopped(error),
        }
    }
}

/// The calls without those others. A model may give several calls the same id; each is one of its own.
fn without(calls: &[ToolCall], others: &[ToolCall]) -> Vec<ToolCall> {
    let mut others: Vec<&ToolCall> = others.iter().collect();
    let is_new = |call: &&ToolCall| match others
        .iter()
        .position(|other| other.id == call.id && other.name == call.name)
    {
        Some(at) => {
            others.swap_remove(at);
            false
        }
        None => true,
    };
    calls.iter().filter(is_new).cloned().collect()
}

/// What happened next.
enum Step {
    Result(ToolResult),
    Nothing,
    Stopped(AgentError),
}
