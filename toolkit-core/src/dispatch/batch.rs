//! The calls of one batch on their way to their results.

use super::execution::{Execution, is_scheduled, ordered};
use super::turns::{Turn, Turns};
use super::{BatchHandle, Dispatcher};
use crate::call::{CallId, ProviderExtras, RawArguments, ToolCall};
use crate::context::{ToolActions, ToolContext};
use crate::error::ToolError;
use crate::middleware::{Stack, ToolRequest};
use crate::output::ToolOutput;
use crate::registry::{Resolved, ToolRegistry};
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
    /// The tools as they were when the batch started.
    registry: Arc<ToolRegistry>,
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

/// What came of a call, and how long the tool ran.
type Timed = (Result<ToolOutput, ToolError>, Duration);

impl<'a> Batch<'a> {
    pub(super) fn new(dispatcher: &'a Dispatcher, size: usize, handle: Option<BatchHandle>) -> Self {
        let registry = dispatcher.registry.snapshot();
        Self { dispatcher, registry, handle, size, position: 0, scheduled: None }
    }

    /// Looks the tool up now, so that a later change of the registry makes no difference, and
    /// returns the call ready to run.
    pub(super) fn prepare(
        &mut self,
        call: ToolCall,
    ) -> (Identity, impl Future<Output = Ended> + Send + 'static + use<>) {
        let Dispatcher { every_call_planned, finish, .. } = self.dispatcher;
        let position = self.position;
        self.position += 1;
        let ToolCall { id, name, arguments, extras, .. } = call;
        let (resolved, arguments, spelling) = match self.registry.resolve(&name, arguments) {
            Ok(Resolved { tool, arguments, called_as }) => {
                let limit = self.dispatcher.limit(&self.registry, &**tool);
                (Ok((tool.clone(), limit)), arguments, called_as)
            }
            Err(error) => (Err(finish.failure(&name, error)), RawArguments::default(), None),
        };
        let (arguments, reason) = match &resolved {
            Ok((tool, _)) => self.registry.part_reason_owned(tool.definition(), arguments),
            Err(_) => (arguments, None),
        };
        let plan = match &resolved {
            Ok((tool, limit)) if *every_call_planned || is_scheduled(&tool.definition().metadata) => {
                Some(self.plan(tool, *limit, arguments.as_str()))
            }
            _ => None,
        };
        let cancellation = self.handle.as_ref().map(|handle| handle.token(&id));
        let (call_id, told) = (id.clone(), reason.clone());
        let state = self.registry.state().cloned();
        let finish = finish.clone();
        let run = async move {
            let started = Instant::now();
            let (tool, limit) = match resolved {
                Ok(resolved) => resolved,
                Err(error) => return Ended::without_run(position, error),
            };
            let mut context = ToolContext::new(tool.definition().name.clone())
                .with_call_id(call_id)
                .with_reason(told)
                .called_as(spelling)
                .lent(state.as_ref());
            if let Some(token) = cancellation {
                context = context.with_cancellation(token);
            }
            if let Some(run) = finish.run() {
                context = context.with_run(run);
            }
            let (outcome, duration) = match plan {
                Some(plan) => plan.carry_out(arguments, &context, position).await,
                None => {
                    let outcome = match start(&*tool, arguments.as_str(), &context, limit) {
                        Ok(outcome) => outcome,
                        Err(running) => running.await,
                    };
                    (outcome, started.elapsed())
                }
            };
            let actions = context.end(outcome.is_ok());
            Ended { position, outcome: finish.outcome(&*tool, &context, outcome), actions, duration }
        };
        (Identity { position, call_id: id, name, reason, extras }, run)
    }

    #[cold]
    fn plan(&mut self, tool: &Arc<dyn Tool>, timeout: Option<Duration>, arguments: &str) -> Box<Plan> {
        let Dispatcher { gates, max_concurrency, middleware, .. } = self.dispatcher;
        let scheduled = self.scheduled.get_or_insert_with(|| Scheduled {
            number: Arc::new(gates.next_batch()),
            turns: Turns::default(),
        });
        // Nobody comes before the only call.
        let ordered = (self.size > 1).then(|| ordered(&**tool, arguments));
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
        context: &ToolContext,
        position: usize,
    ) -> Pin<Box<dyn Future<Output = Timed> + Send + '_>> {
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
                    return execution.run(arguments.as_str(), context).await;
                }
                let tool = execution.tool.clone();
                let request = ToolRequest::new(tool, arguments, context.clone(), position, batch);
                middleware.before(execution.clone()).run(request).await
            };
            let outcome = Running::new(ToolFuture::running(steps, |outcome| outcome), context, None).await;
            (outcome, execution.ran())
        })
    }
}

/// Whose result it will be. It stays behind when the call goes to a task of its own.
pub(super) struct Identity {
    position: usize,
    call_id: CallId,
    name: String,
    reason: Option<String>,
    extras: ProviderExtras,
}

/// How a call ended.
pub(super) struct Ended {
    pub(super) position: usize,
    outcome: Result<ToolOutput, ToolError>,
    actions: ToolActions,
    duration: Duration,
}

impl Ended {
    /// The end of a call whose tool did not run.
    #[cold]
    fn without_run(position: usize, error: ToolError) -> Self {
        Self { position, outcome: Err(error), actions: ToolActions::default(), duration: Duration::ZERO }
    }
}

impl Identity {
    pub(super) fn result(self, Ended { outcome, actions, duration, .. }: Ended) -> ToolResult {
        let Self { position, call_id, name, reason, extras } = self;
        ToolResult { position, duration, reason, actions, extras, ..ToolResult::new(call_id, name, outcome) }
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
        self.result(Ended::without_run(position, error))
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
