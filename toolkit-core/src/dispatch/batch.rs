//! The calls of one batch on their way to their results.

use super::execution::{Execution, is_scheduled, ordered};
use super::turns::{Turn, Turns};
use super::{BatchHandle, Dispatcher};
use crate::call::{CallId, ProviderExtras, RawArguments, ToolCall};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::middleware::{Stack, ToolRequest};
use crate::output::ToolOutput;
use crate::result::ToolResult;
use crate::tool::{Running, Tool, ToolFuture, panic_text, start};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use tokio::task::{JoinError, JoinHandle};

/// What the calls of a batch have in common.
pub(super) struct Batch<'a> {
    dispatcher: &'a Dispatcher,
    handle: Option<BatchHandle>,
    size: usize,
    /// The position of the next call.
    position: usize,
    scheduled: Option<Scheduled>,
}

/// What those calls have in common that wait for others.
struct Scheduled {
    number: Arc<u64>,
    turns: Turns,
}

/// What one call does before it runs.
struct Plan {
    execution: Arc<Execution>,
    turns: Vec<Turn>,
    middleware: Stack,
    batch: Arc<u64>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(dispatcher: &'a Dispatcher, size: usize, handle: Option<BatchHandle>) -> Self {
        Self { dispatcher, handle, size, position: 0, scheduled: None }
    }

    /// Looks the tool up now, so that a later change of the registry makes no difference, and
    /// returns the call ready to run.
    pub(super) fn prepare(
        &mut self,
        call: ToolCall,
    ) -> (Identity, impl Future<Output = Ended> + Send + 'static + use<>) {
        let Dispatcher { registry, every_call_planned, .. } = self.dispatcher;
        let position = self.position;
        self.position += 1;
        let mut plan = None;
        let resolved = match registry.get(&call.name) {
            Some(tool) => {
                let limit = self.dispatcher.limit(&**tool);
                if *every_call_planned || is_scheduled(&tool.definition().metadata) {
                    plan = Some(self.plan(tool, limit, &call));
                }
                Ok((tool.clone(), limit))
            }
            None => Err(registry.not_found(&call.name)),
        };
        let cancellation = self.handle.as_ref().map(|handle| handle.token(&call.id));
        let ToolCall { id, name, arguments, extras, .. } = call;
        let call_id = id.clone();
        let state = registry.state().cloned();
        let respelled = resolved.as_ref().is_ok_and(|(tool, _)| tool.definition().name.as_str() != name);
        let spelling = respelled.then(|| name.as_str().into());
        let run = async move {
            let started = Instant::now();
            let ended = |outcome| Ended { position, outcome, duration: started.elapsed() };
            let (tool, limit) = match resolved {
                Ok(resolved) => resolved,
                Err(error) => return ended(Err(error)),
            };
            let mut context = ToolContext::new(tool.definition().name.clone())
                .with_call_id(call_id)
                .called_as(spelling)
                .lent(state.as_ref());
            if let Some(token) = cancellation {
                context = context.with_cancellation(token);
            }
            if let Some(plan) = plan {
                let (outcome, duration) = plan.carry_out(arguments, context, position).await;
                return Ended { position, outcome, duration };
            }
            let running = match start(&*tool, arguments.as_str(), &context, limit) {
                Ok(outcome) => return ended(outcome),
                Err(running) => running,
            };
            ended(running.await)
        };
        (Identity { position, call_id: id, name, extras }, run)
    }

    #[cold]
    fn plan(&mut self, tool: &Arc<dyn Tool>, timeout: Option<Duration>, call: &ToolCall) -> Box<Plan> {
        let Dispatcher { gates, max_concurrency, middleware, .. } = self.dispatcher;
        let scheduled = self.scheduled.get_or_insert_with(|| Scheduled {
            number: Arc::new(gates.next_batch()),
            turns: Turns::default(),
        });
        // Nobody comes before the only call.
        let ordered = (self.size > 1).then(|| ordered(&**tool, call.arguments.as_str()));
        let turns = ordered.into_iter().flatten().map(|resource| scheduled.turns.next(resource)).collect();
        let execution = Execution {
            tool: tool.clone(),
            timeout,
            max_concurrency: *max_concurrency,
            gates: gates.clone(),
            batch: *scheduled.number,
            ran: AtomicU64::new(0),
        };
        let batch = scheduled.number.clone();
        Box::new(Plan { execution: Arc::new(execution), turns, middleware: middleware.clone(), batch })
    }
}

impl Plan {
    /// What came of the call, and how long the tool ran. It can be cancelled at any time, and no panic comes out.
    fn carry_out(
        self: Box<Self>,
        arguments: RawArguments,
        context: ToolContext,
        position: usize,
    ) -> Pin<Box<dyn Future<Output = (Result<ToolOutput, ToolError>, Duration)> + Send>> {
        Box::pin(async move {
            let Self { execution, mut turns, middleware, batch } = *self;
            if context.is_cancelled() {
                return (Err(ToolError::cancelled(context.known_name())), Duration::ZERO);
            }
            let steps = async {
                for turn in &mut turns {
                    turn.comes().await;
                }
                if middleware.is_empty() {
                    return execution.run(arguments.as_str(), &context).await;
                }
                let tool = execution.tool.clone();
                let request = ToolRequest::new(tool, arguments, context.clone(), position, batch);
                middleware.before(execution.clone()).run(request).await
            };
            let outcome = Running::new(ToolFuture::running(steps, |outcome| outcome), &context, None).await;
            (outcome, execution.ran())
        })
    }
}

/// Whose result it will be. It stays behind when the call goes to a task of its own.
pub(super) struct Identity {
    position: usize,
    call_id: CallId,
    name: String,
    extras: ProviderExtras,
}

/// How a call ended.
pub(super) struct Ended {
    pub(super) position: usize,
    outcome: Result<ToolOutput, ToolError>,
    duration: Duration,
}

impl Identity {
    pub(super) fn result(self, Ended { outcome, duration, .. }: Ended) -> ToolResult {
        let Self { position, call_id, name, extras } = self;
        ToolResult { position, duration, extras, ..ToolResult::new(call_id, name, outcome) }
    }

    /// The result of a call whose task was taken away from us, by the runtime's end or by a panic that
    /// even the guards did not catch.
    #[cold]
    pub(super) fn lost(self, lost: JoinError) -> ToolResult {
        let error = match lost.try_into_panic() {
            Ok(payload) => ToolError::panicked(&self.name, panic_text(&*payload)),
            Err(_) => ToolError::cancelled(&self.name),
        };
        let position = self.position;
        self.result(Ended { position, outcome: Err(error), duration: Duration::ZERO })
    }
}

/// A call on its way. Dropping it stops the call.
pub(super) struct Task(JoinHandle<Ended>);

impl Task {
    pub(super) fn spawn(run: impl Future<Output = Ended> + Send + 'static) -> Self {
        Self(tokio::spawn(Box::pin(run)))
    }

    pub(super) async fn join(&mut self) -> Result<Ended, JoinError> {
        (&mut self.0).await
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
