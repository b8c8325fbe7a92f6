//! The calls of one turn, on their way to their results.

use super::failures::Failures;
use crate::conversation::{Conversation, Turn};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::run::Run;
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

    /// The calls that were started, but are not among these.
    pub(super) fn not_in(&self, calls: &[ToolCall]) -> Vec<ToolCall> {
        without(&self.calls, calls)
    }

    /// Starts those of all calls of the turn that were not started while the model wrote.
    pub(super) fn start_rest(&mut self, calls: &[ToolCall], turn: &mut Turn) {
        for call in without(calls, &self.calls) {
            self.start(call, turn);
        }
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
                let agent = turn.message.agent.clone();
                self.keep(ToolResult::of(&call, Err(error)).with_position(position), turn, &agent);
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

    /// What happens next; a run that was stopped already waits for results only.
    async fn step(&mut self, may_stop: bool) -> Step {
        let run = self.run.clone();
        let next = match may_stop {
            true => run.unless_stopped(self.next()).await,
            false => Ok(self.next().await),
        };
        match next {
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
