//! The execution of one call: permits, time limit, blocking pool.

use super::gates::{LimitedResource, Permit};
use super::settings::Settings;
use super::span::in_current;
use super::waits::wait;
use crate::context::{Limit, ToolContext};
use crate::definition::{GuardedFuture, Tool, ToolDefinition, run};
use crate::error::{ErrorKind, ToolError};
use crate::guard::PanicText;
use crate::middleware::{CallArguments, Middleware, Next, ToolRequest};
use crate::output::Outcome;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(super) struct Execution {
    pub(super) tool: Arc<dyn Tool>,
    timeout: Option<Duration>,
    pub(super) settings: Arc<Settings>,
    batch: u64,
    /// In nanoseconds, over all attempts.
    ran: AtomicU64,
}

impl Execution {
    pub(super) fn new(
        tool: Arc<dyn Tool>,
        timeout: Option<Duration>,
        settings: Arc<Settings>,
        batch: u64,
    ) -> Self {
        Self { tool, timeout, settings, batch, ran: AtomicU64::new(0) }
    }

    /// Waits for the permits and runs the tool.
    pub(super) async fn run(&self, arguments: &CallArguments, context: &ToolContext) -> Outcome {
        let text = arguments.for_tool()?;
        let definition = self.tool.definition();
        let mut permits = Vec::new();
        if let Some(lane) = lane(definition, arguments) {
            permits.push(self.acquire(lane, 1, context).await);
        }
        if let Some(calls) = max_concurrency(definition) {
            let tool = LimitedResource::Tool(definition.name.as_str().into());
            permits.push(self.acquire(tool, calls, context).await);
        }
        // The dispatcher's comes last, so no call holds it while waiting for another resource.
        if let Some(calls) = self.settings.max_concurrency {
            permits.push(self.acquire(LimitedResource::Dispatcher, calls, context).await);
        }
        if definition.metadata.blocking {
            return self.run_on_blocking_pool(text, context, permits).await;
        }
        context.begin();
        let started = Instant::now();
        let outcome = run(&*self.tool, text, context, self.timeout).await;
        self.add(started.elapsed());
        outcome
    }

    /// Waits until fewer than `calls` others hold the resource. Zero would wait forever, so it counts as
    /// one.
    async fn acquire(&self, resource: LimitedResource, calls: usize, context: &ToolContext) -> Permit {
        let limit = calls.max(1);
        match self.settings.gates.enter(resource, limit, self.batch) {
            Ok(permit) => permit,
            Err(place) => {
                let shown = place.resource().clone();
                let definition = self.tool.definition();
                wait(context, |contents| shown.shown(definition, limit, contents), place).await
            }
        }
    }

    /// Runs the tool on the blocking pool.
    ///
    /// If the call is abandoned, its context is cancelled, and it keeps its permits until the thread ends.
    async fn run_on_blocking_pool(
        &self,
        arguments: &str,
        context: &ToolContext,
        permits: Vec<Permit>,
    ) -> Outcome {
        let Ok(runtime) = Handle::try_current() else {
            return Err(ToolError::failed("a blocking tool needs a tokio runtime"));
        };
        let tool = self.tool.clone();
        let arguments = arguments.to_owned();
        let timeout = self.timeout;
        let abandoned = context.cancellation_token().child_token();
        let inner = context.clone().with_cancellation(abandoned.clone());
        // Begun here: when the thread starts, a later attempt may have begun.
        inner.begin();
        let (began, beginning) = oneshot::channel();
        let here = runtime.clone();
        let mut thread = Thread(runtime.spawn_blocking(in_current(move || {
            let permits = permits;
            // Fails if the call was abandoned.
            let _ = began.send(Instant::now());
            // Enforced by the caller of this function, shown to the tool by the context.
            if let Some(limit) = timeout.and_then(Limit::from_now) {
                inner.limit_to(limit);
            }
            let outcome = here.block_on(run(&*tool, &arguments, &inner, None));
            drop(permits);
            outcome
        })));
        let guard = abandoned.drop_guard();
        // The wait for a free thread is no running time, but has a limit of the same length.
        let beginning = async { Ok(beginning.await.unwrap_or_else(|_| Instant::now())) };
        let began = match self.timeout {
            Some(limit) => tokio::time::timeout(limit, beginning).await.unwrap_or(Err(limit)),
            None => beginning.await,
        };
        let started = match began {
            Ok(started) => started,
            Err(limit) => {
                let error = ToolError::timed_out(context.known_name(), limit);
                let message = format!("{}; no thread was free to run it", error.message());
                return Err(error.with_message(message));
            }
        };
        let finished = async {
            let lost = match (&mut thread.0).await {
                Ok(outcome) => return outcome,
                Err(lost) => lost,
            };
            match lost.try_into_panic() {
                Ok(payload) => Err(PanicText::new(payload).of_call(context)),
                Err(_) => Err(ToolError::cancelled(context.known_name())),
            }
        };
        let outcome = GuardedFuture::new(Box::pin(finished), context, self.timeout).await;
        self.add(started.elapsed());
        match outcome {
            Err(error)
                if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::Cancelled)
                    && !thread.0.is_finished() =>
            {
                let message = format!("{}; it cannot be stopped and may still finish", error.message());
                Err(error.with_message(message))
            }
            outcome => {
                guard.disarm();
                outcome
            }
        }
    }

    fn add(&self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.ran.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub(super) fn running_time(&self) -> Duration {
        Duration::from_nanos(self.ran.load(Ordering::Relaxed))
    }
}

impl Middleware for Execution {
    async fn handle(&self, request: ToolRequest, _: Next) -> Outcome {
        let outcome = self.run(request.call_arguments(), request.context()).await;
        if outcome.is_err() {
            // Session changes of a failed attempt are discarded, even if middleware returns another
            // outcome afterwards.
            request.context().begin();
        }
        outcome
    }
}

/// A call on the blocking pool. Dropping it before its start removes it from the pool's queue.
struct Thread(JoinHandle<Outcome>);

impl Drop for Thread {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Returns the resources whose calls in a batch run one after another: an exclusive tool, and the lane.
pub(super) fn ordered(
    definition: &ToolDefinition,
    arguments: &CallArguments,
) -> impl Iterator<Item = LimitedResource> {
    let mut exclusive = None;
    if definition.metadata.exclusive {
        exclusive = Some(LimitedResource::Tool(definition.name.as_str().into()));
    }
    exclusive.into_iter().chain(lane(definition, arguments))
}

fn max_concurrency(definition: &ToolDefinition) -> Option<usize> {
    if definition.metadata.exclusive { Some(1) } else { definition.metadata.max_concurrency }
}

fn lane(definition: &ToolDefinition, arguments: &CallArguments) -> Option<LimitedResource> {
    let parameter = definition.metadata.lane.as_deref()?;
    let value = arguments.lane()?;
    Some(LimitedResource::Lane { parameter: parameter.into(), value: value.into() })
}
