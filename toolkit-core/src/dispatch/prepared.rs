//! Prepared calls: the tool is known and the model's reason is removed from the arguments, so the call can
//! run.

use super::execution::{Execution, ordered};
use super::settings::Settings;
use super::span::CallSpan;
use super::turns::{Turn, Turns};
use crate::call::{CallId, ProviderExtras, RawArguments, ToolCall};
use crate::context::{ContextExtras, RunContext, State, ToolActions, ToolContext};
use crate::error::ToolError;
use crate::event::{CallGuard, EventCall};
use crate::guard::{PanicText, guarded};
use crate::middleware::{Approval, CallArguments, DecidedApproval, DecidedApprovals, Next, ToolRequest};
use crate::name::ToolName;
use crate::output::Outcome;
use crate::registry::{Rewritten, Target, ToolRegistry};
use crate::result::ToolResult;
use crate::tool::{GuardedFuture, Tool, ToolDefinition, start};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The data of a batch needed to prepare its next call.
pub(super) struct Preparation<'a> {
    pub(super) settings: &'a Arc<Settings>,
    /// The snapshot of the tools, taken at the start of the batch.
    pub(super) registry: &'a ToolRegistry,
    pub(super) run: Option<&'a Arc<RunContext>>,
    /// The approval of an outer dispatcher's call of this call's tool, if it was decided.
    pub(super) decided: Option<Box<Approval>>,
    pub(super) numbering: &'a mut Numbering,
    /// The order of the calls in the batch. `None` for a single call.
    pub(super) turns: Option<&'a mut Turns>,
}

/// Assigns an id to a batch, and positions to the calls of the batch.
#[derive(Default)]
pub(super) struct Numbering {
    /// The position of the next call.
    position: usize,
    /// The id of the batch, assigned on first use.
    batch: Option<Arc<u64>>,
}

impl Preparation<'_> {
    fn batch(&mut self) -> Arc<u64> {
        let next = || Arc::new(self.settings.gates.next_batch());
        self.numbering.batch.get_or_insert_with(next).clone()
    }

    /// Prepares a call: looks up the tool, removes the model's reason from the arguments, queues the call
    /// behind earlier calls for the same resource, and emits its first event.
    pub(super) fn prepare(mut self, call: ToolCall, cancellation: Option<CancellationToken>) -> PreparedCall {
        let position = self.numbering.position;
        self.numbering.position += 1;
        let ToolCall { id, name, mut arguments, extras, .. } = call;
        let registry = self.registry;
        let decided = match self.run {
            Some(run) if self.decided.is_none() => decided(run, &id, &name, arguments.as_str()),
            _ => self.decided.take(),
        };
        let target = guarded(|| registry.target(&name, arguments.as_str()));
        let mut target = target.unwrap_or_else(|PanicText(text)| Err(ToolError::panicked(&name, &text)));
        let mut rewritten = target.as_mut().ok().and_then(|target| target.rewritten.take());
        if let Some(own) = rewritten.as_mut().and_then(|rewritten| rewritten.arguments.take()) {
            arguments = own.into();
        }
        let definition = target.as_ref().ok().map(|target| target.definition);
        let contents = self.settings.bus.includes_contents();
        let span = CallSpan::new(definition, &name, &id, contents.then(|| arguments.as_str()));
        let guard = self.settings.bus.has_listeners().then(|| {
            let tool = definition.map_or(&*name, |definition| definition.name.as_str());
            let call_reason = rewritten.as_ref().and_then(|rewritten| rewritten.call_reason.as_deref());
            self.queued(position, tool, &id, &arguments, call_reason)
        });
        let work = match target {
            Err(error) => Err(self.settings.failure(&name, error)),
            Ok(Target { tool, definition, .. }) => {
                let metadata = &definition.metadata;
                let limit = self.settings.limit(metadata, registry.timeout());
                let run = if self.settings.needs_schedule(metadata) {
                    // Reading the lane from the arguments runs code of the tool, which may panic.
                    guarded(|| self.schedule(tool, definition, limit, arguments)).map(CallPath::Scheduled)
                } else {
                    Ok(CallPath::Inline { tool: tool.clone(), limit, arguments })
                };
                let max_result_size = self.settings.max_result_size(metadata);
                match run {
                    Ok(run) => Ok(Work { tool_name: definition.name.clone(), max_result_size, run }),
                    Err(PanicText(text)) => {
                        Err(self.settings.failure(&name, ToolError::panicked(&name, &text)))
                    }
                }
            }
        };
        PreparedCall { position, id, name, extras, rewritten, decided, work, cancellation, guard, span }
    }

    #[cold]
    fn queued(
        &mut self,
        position: usize,
        tool: &str,
        id: &CallId,
        arguments: &RawArguments,
        call_reason: Option<&str>,
    ) -> CallGuard {
        let batch = *self.batch();
        let bus = &self.settings.bus;
        let run = self.run.map(|run| &**run);
        let call = EventCall {
            batch,
            position,
            call_id: id.clone(),
            tool: tool.to_owned(),
            invocation_id: run.and_then(RunContext::invocation_id).map(str::to_owned),
            agent_name: run.and_then(RunContext::agent_name).map(str::to_owned),
            call_reason: call_reason.map(str::to_owned),
            arguments_bytes: arguments.as_str().len(),
            arguments: bus.includes_contents().then(|| arguments.as_str().into()),
        };
        CallGuard::new(bus.clone(), call)
    }

    #[cold]
    fn schedule(
        &mut self,
        tool: &Arc<dyn Tool>,
        definition: &ToolDefinition,
        limit: Option<Duration>,
        arguments: RawArguments,
    ) -> ScheduledCall {
        let arguments = CallArguments::new(tool.clone(), arguments);
        let batch = self.batch();
        let turns = match &mut self.turns {
            None => Vec::new(),
            Some(turns) => ordered(definition, &arguments).map(|resource| turns.next(resource)).collect(),
        };
        let execution = Arc::new(Execution::new(tool.clone(), limit, self.settings.clone(), *batch));
        ScheduledCall { execution, arguments, turns, batch }
    }
}

/// Returns the approval in the run for a call, if it was decided.
#[inline(never)]
fn decided(run: &RunContext, id: &CallId, name: &str, arguments: &str) -> Option<Box<Approval>> {
    run.extension::<DecidedApprovals>()?.of(id, name, arguments).cloned().map(Box::new)
}

/// Returns the extensions of a call with its approval.
#[cold]
fn extensions(decided: Approval) -> Arc<State> {
    Arc::new(State::default().with(DecidedApproval(decided)))
}

/// A prepared call, ready to run.
pub(super) struct PreparedCall {
    pub(super) position: usize,
    id: CallId,
    name: String,
    extras: ProviderExtras,
    /// What the registry has rewritten for the tool. The arguments are moved into the work.
    rewritten: Option<Box<Rewritten>>,
    /// The approval decided before the call. Boxed, because it is rare.
    decided: Option<Box<Approval>>,
    /// The remaining work, or the error if the call cannot run.
    work: Result<Work, ToolError>,
    cancellation: Option<CancellationToken>,
    /// The guard that emits the end of the call. `None` if there are no listeners.
    guard: Option<CallGuard>,
    span: CallSpan,
}

/// The remaining work of a call.
struct Work {
    tool_name: ToolName,
    max_result_size: Option<usize>,
    run: CallPath,
}

enum CallPath {
    /// The call runs its tool at once, without waiting and without middleware.
    Inline { tool: Arc<dyn Tool>, limit: Option<Duration>, arguments: RawArguments },
    /// The call needs a turn, a permit, a thread, middleware or retries.
    Scheduled(ScheduledCall),
}

struct ScheduledCall {
    execution: Arc<Execution>,
    arguments: Arc<CallArguments>,
    turns: Vec<Turn>,
    batch: Arc<u64>,
}

/// The outcome, the actions and the running time of an ended call.
pub(super) struct Ended {
    outcome: Outcome,
    actions: ToolActions,
    /// The running time of the tool.
    duration: Duration,
}

impl PreparedCall {
    /// Returns the tool of the call. Returns `None` if the call cannot run.
    pub(super) fn tool(&self) -> Option<&Arc<dyn Tool>> {
        self.work.as_ref().ok().map(|work| match &work.run {
            CallPath::Inline { tool, .. } => tool,
            CallPath::Scheduled(call) => &call.execution.tool,
        })
    }

    /// Runs the call. The future can be dropped at any time and does not panic.
    #[inline]
    pub(super) fn run<'a>(
        &'a mut self,
        settings: &'a Settings,
        registry: &'a ToolRegistry,
        run: Option<&'a Arc<RunContext>>,
    ) -> impl Future<Output = Ended> + 'a {
        let span = self.span.clone();
        span.around(async move {
            let extras = self.context_extras(run);
            let state = match run {
                Some(run) => run.state_over(registry.state()),
                None => registry.state().cloned(),
            };
            let ended = match &mut self.work {
                Err(error) => Ended::without_run(error.clone()),
                Ok(Work { tool_name, max_result_size, run }) => {
                    let id = Some(self.id.clone());
                    let token = self.cancellation.clone();
                    let context = ToolContext::of_call(tool_name.clone(), id, token, state, extras);
                    let (outcome, duration) = match run {
                        CallPath::Inline { tool, limit, arguments } => {
                            let started = Instant::now();
                            let outcome = match start(&**tool, arguments.as_str(), &context, *limit) {
                                Ok(outcome) => outcome,
                                Err(call) => call.await,
                            };
                            (outcome, started.elapsed())
                        }
                        CallPath::Scheduled(_) if !context.may_begin() => {
                            (Err(ToolError::cancelled(context.known_name())), Duration::ZERO)
                        }
                        CallPath::Scheduled(call) => {
                            (call.run(&context, self.position).await, call.execution.running_time())
                        }
                    };
                    let actions = context.end(outcome.is_ok());
                    let outcome = outcome.map_err(|error| settings.failure(context.known_name(), error));
                    let outcome = match *max_result_size {
                        Some(limit) => settings.truncated(limit, &context, outcome).await,
                        None => outcome,
                    };
                    Ended { outcome, actions, duration }
                }
            };
            self.span.end(&ended.outcome, settings.bus.includes_contents());
            if let Some(guard) = self.guard.take() {
                guard.end(&ended.outcome, ended.duration);
            }
            ended
        })
    }

    #[inline]
    fn context_extras(&mut self, run: Option<&Arc<RunContext>>) -> Option<Box<ContextExtras>> {
        if self.rewritten.is_none() && run.is_none() && self.guard.is_none() {
            return None;
        }
        let rewritten = self.rewritten.as_mut();
        let (called_as, call_reason) = rewritten
            .map_or((None, None), |rewritten| (rewritten.called_as.take(), rewritten.call_reason.clone()));
        Some(Box::new(ContextExtras {
            called_as,
            call_reason,
            run: run.cloned(),
            emitter: self.guard.as_ref().map(|guard| guard.emitter().clone()),
            extensions: self.decided.take().map(|decided| extensions(*decided)),
            ..ContextExtras::default()
        }))
    }

    #[inline]
    pub(super) fn into_result(self, Ended { outcome, actions, duration }: Ended) -> ToolResult {
        let Self { position, id, name, rewritten, extras, .. } = self;
        let call_reason = rewritten.and_then(|rewritten| rewritten.call_reason);
        ToolResult { call_id: id, name, position, outcome, duration, call_reason, actions, extras }
    }

    /// Returns the error result of a call with a lost task. A task is lost if the runtime shuts down, or if
    /// code outside of the panic guards panics.
    #[cold]
    pub(super) fn into_lost(self, settings: &Settings) -> ToolResult {
        let error = if std::thread::panicking() {
            ToolError::panicked(&self.name, "no message")
        } else {
            ToolError::cancelled(&self.name)
        };
        self.into_error(error, settings)
    }

    /// Ends a call that has not run, and returns its error result.
    #[cold]
    pub(super) fn into_error(mut self, error: ToolError, settings: &Settings) -> ToolResult {
        let ended = Ended::without_run(settings.failure(&self.name, error));
        self.span.end(&ended.outcome, settings.bus.includes_contents());
        if let Some(guard) = self.guard.take() {
            guard.end(&ended.outcome, ended.duration);
        }
        self.into_result(ended)
    }
}

impl ScheduledCall {
    /// Waits for the `turns` of the call, then runs the middleware and the tool. A turn begins when the
    /// earlier call of the batch with the same resource has ended.
    fn run<'a>(&'a mut self, context: &'a ToolContext, position: usize) -> GuardedFuture<'a> {
        let Self { execution, arguments, turns, batch } = self;
        let steps = async move {
            for turn in turns {
                turn.comes().await;
                if !context.may_begin() {
                    return Err(ToolError::cancelled(context.known_name()));
                }
            }
            let middleware = execution.settings.middleware_for(&execution.tool.definition().metadata);
            if middleware.is_empty() {
                return execution.run(arguments, context).await;
            }
            let tool = execution.tool.clone();
            let context = context.clone();
            let request = ToolRequest::new(tool, arguments.clone(), context, position, batch.clone());
            Next::new(middleware, execution.clone()).run(request).await
        };
        GuardedFuture::new(Box::pin(steps), context, None)
    }
}

impl Ended {
    #[cold]
    pub(super) fn without_run(error: ToolError) -> Self {
        Self { outcome: Err(error), actions: ToolActions::default(), duration: Duration::ZERO }
    }
}
