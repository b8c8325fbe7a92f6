//! Prepared calls: the tool is known, and the arguments are without the model's reason.

use super::scheduled_call::ScheduledCall;
use super::settings::Settings;
use super::span::CallSpan;
use crate::call::{CallId, ProviderExtras, RawArguments};
use crate::context::{ContextExtras, RunContext, State, ToolActions, ToolContext};
use crate::definition;
use crate::definition::Tool;
use crate::error::ToolError;
use crate::events::CallGuard;
use crate::middleware::{Approval, DecidedApproval};
use crate::name::ToolName;
use crate::output::Outcome;
use crate::registry::{Rewritten, ToolRegistry};
use crate::result::ToolResult;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

pub(super) struct PreparedCall {
    pub(super) position: usize,
    pub(super) id: CallId,
    pub(super) name: String,
    pub(super) extras: ProviderExtras,
    /// What the registry has rewritten, except the arguments.
    pub(super) rewritten: Option<Box<Rewritten>>,
    /// Boxed, because it is rare.
    pub(super) decided: Option<Box<Approval>>,
    /// The remaining work, or why the call cannot run.
    pub(super) work: Result<Work, ToolError>,
    pub(super) cancellation: Option<CancellationToken>,
    /// Emits the end of the call. `None` if there are no listeners.
    pub(super) guard: Option<CallGuard>,
    pub(super) span: CallSpan,
}

pub(super) struct Work {
    pub(super) tool_name: ToolName,
    pub(super) max_result_size: Option<usize>,
    pub(super) path: CallPath,
}

pub(super) enum CallPath {
    /// Runs the tool at once, without middleware.
    Inline { tool: Arc<dyn Tool>, limit: Option<Duration>, arguments: RawArguments },
    /// Needs a turn, a permit, a thread, middleware or retries.
    Scheduled(ScheduledCall),
}

pub(super) struct Ended {
    outcome: Outcome,
    actions: ToolActions,
    duration: Duration,
}

impl PreparedCall {
    pub(super) fn tool(&self) -> Option<&Arc<dyn Tool>> {
        let Ok(work) = &self.work else { return None };
        match &work.path {
            CallPath::Inline { tool, .. } => Some(tool),
            CallPath::Scheduled(call) => Some(&call.execution.tool),
        }
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
                Ok(Work { tool_name, max_result_size, path }) => {
                    let id = Some(self.id.clone());
                    let token = self.cancellation.clone();
                    let context = ToolContext::of_call(tool_name.clone(), id, token, state, extras);
                    let (returned, duration) = match path {
                        CallPath::Inline { tool, limit, arguments } => {
                            let started = Instant::now();
                            let outcome =
                                definition::run(&**tool, arguments.as_str(), &context, *limit).await;
                            (outcome, started.elapsed())
                        }
                        CallPath::Scheduled(_) if !context.may_begin() => {
                            (Err(ToolError::cancelled(context.known_name())), Duration::ZERO)
                        }
                        CallPath::Scheduled(call) => {
                            (call.run(&context, self.position).await, call.execution.running_time())
                        }
                    };
                    let actions = context.end(returned.is_ok());
                    let untruncated = returned.map_err(|error| settings.failure(context.known_name(), error));
                    let outcome = match *max_result_size {
                        Some(limit) => settings.truncated(limit, &context, untruncated).await,
                        None => untruncated,
                    };
                    Ended { outcome, actions, duration }
                }
            };
            self.finish(&ended, settings);
            ended
        })
    }

    #[inline]
    fn finish(&mut self, ended: &Ended, settings: &Settings) {
        let tool = match &self.work {
            Ok(work) => Some(work.tool_name.as_str()),
            Err(_) => None,
        };
        self.span.end(&ended.outcome, settings.bus.includes_contents(), tool, ended.duration);
        if let Some(guard) = self.guard.take() {
            guard.end(&ended.outcome, ended.duration);
        }
    }

    #[inline]
    fn context_extras(&mut self, run: Option<&Arc<RunContext>>) -> Option<Box<ContextExtras>> {
        if self.rewritten.is_none() && run.is_none() && self.guard.is_none() {
            return None;
        }
        let mut extras = Box::new(ContextExtras { run: run.cloned(), ..ContextExtras::default() });
        if let Some(rewritten) = &mut self.rewritten {
            extras.called_as = rewritten.called_as.take();
            extras.call_reason.clone_from(&rewritten.call_reason);
        }
        if let Some(guard) = &self.guard {
            extras.emitter = Some(guard.emitter().clone());
        }
        if let Some(decided) = self.decided.take() {
            extras.extensions = Some(extensions(*decided));
        }
        Some(extras)
    }

    #[inline]
    pub(super) fn into_result(self, Ended { outcome, actions, duration }: Ended) -> ToolResult {
        let Self { position, id, name, rewritten, extras, .. } = self;
        let call_reason = rewritten.and_then(|rewritten| rewritten.call_reason);
        ToolResult { call_id: id, name, position, outcome, duration, call_reason, actions, extras }
    }

    /// Returns the error of a call whose task is lost: the runtime shuts down, or code outside of the
    /// guards panics.
    #[cold]
    pub(super) fn into_lost(self, settings: &Settings) -> ToolResult {
        let error = if std::thread::panicking() {
            ToolError::panicked(&self.name, "no message")
        } else {
            ToolError::cancelled(&self.name)
        };
        self.into_error(error, settings)
    }

    /// Ends a call that has not run.
    #[cold]
    pub(super) fn into_error(mut self, error: ToolError, settings: &Settings) -> ToolResult {
        let ended = Ended::without_run(settings.failure(&self.name, error));
        self.finish(&ended, settings);
        self.into_result(ended)
    }
}

impl Ended {
    #[cold]
    pub(super) fn without_run(error: ToolError) -> Self {
        Self { outcome: Err(error), actions: ToolActions::default(), duration: Duration::ZERO }
    }
}

#[cold]
fn extensions(decided: Approval) -> Arc<State> {
    Arc::new(State::default().with(DecidedApproval(decided)))
}
