//! Running one call under the limits of its tool and its dispatcher.

use super::gates::{Gates, Permit, Resource};
use super::span::in_current;
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::middleware::{Answer, Execute, ToolRequest};
use crate::output::ToolOutput;
use crate::tool::{Running, Tool, ToolFuture, ToolMetadata, go_on, panic_text, start};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time;

type Outcome = Result<ToolOutput, ToolError>;

/// What one call is run with.
pub(super) struct Execution {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) timeout: Option<Duration>,
    /// How many calls of the dispatcher may run at once.
    pub(super) max_concurrency: Option<usize>,
    pub(super) gates: Arc<Gates>,
    pub(super) batch: u64,
    /// How long the tool ran, in nanoseconds.
    pub(super) ran: AtomicU64,
}

impl Execution {
    /// Waits until the call may run, and runs it. Its time limit counts from then on.
    pub(super) async fn run(&self, arguments: &str, context: &ToolContext) -> Outcome {
        let metadata = &self.tool.definition().metadata;
        let mut permits = Vec::new();
        // The dispatcher's own limit is the last: nobody holds a place there and waits for something else.
        for (resource, limit) in self.shared(metadata, arguments) {
            permits.push(self.gates.acquire(resource, limit, self.batch).await);
        }
        if metadata.blocking {
            return self.run_on_blocking_pool(arguments, context, permits).await;
        }
        let started = Instant::now();
        let outcome = match start(&*self.tool, arguments, context, self.timeout) {
            Ok(outcome) => outcome,
            Err(running) => running.await,
        };
        self.add(started.elapsed());
        outcome
    }

    /// What the call shares with others, and how many may have it at once.
    fn shared(&self, metadata: &ToolMetadata, arguments: &str) -> impl Iterator<Item = (Resource, usize)> {
        let lane = lane(&*self.tool, arguments).map(|lane| (lane, 1));
        let of_tool = match (metadata.exclusive, metadata.max_concurrency) {
            (true, _) => Some(1),
            (false, limit) => limit,
        };
        let tool = of_tool.map(|limit| (Resource::Tool(self.tool.definition().name.as_str().into()), limit));
        let all = self.max_concurrency.map(|limit| (Resource::Dispatcher, limit));
        // Nothing could ever run where nobody is let in.
        lane.into_iter().chain(tool).chain(all).map(|(resource, limit)| (resource, limit.max(1)))
    }

    /// The thread cannot be stopped. What is given up is told to the tool, which may look at its context,
    /// and keeps its permits until it has finished.
    async fn run_on_blocking_pool(
        &self,
        arguments: &str,
        context: &ToolContext,
        permits: Vec<Permit>,
    ) -> Outcome {
        let Ok(runtime) = Handle::try_current() else {
            return Err(ToolError::failed("a blocking tool needs a tokio runtime"));
        };
        let (tool, arguments, timeout) = (self.tool.clone(), arguments.to_owned(), self.timeout);
        let given_up = context.cancellation_token().child_token();
        let inner = context.clone().with_cancellation(given_up.clone());
        // Here, because the thread may come to it when another attempt has begun.
        inner.begin(None);
        let (began, beginning) = oneshot::channel();
        let here = runtime.clone();
        let mut thread = Thread(runtime.spawn_blocking(in_current(move || {
            let permits = permits;
            // Who waits may have gone.
            let _ = began.send(Instant::now());
            // The limit is kept outside, where it can be, and the tool may ask for it.
            inner.limit_to(timeout.and_then(|limit| time::Instant::now().checked_add(limit)));
            let outcome = match go_on(&*tool, &arguments, &inner, None) {
                Ok(outcome) => outcome,
                Err(running) => here.block_on(running),
            };
            drop(permits);
            outcome
        })));
        let guard = given_up.drop_guard();
        // The pool has a limit of its own, and waiting for it does not count.
        let started = beginning.await.unwrap_or_else(|_| Instant::now());
        let finished = ToolFuture::running(&mut thread.0, |joined| match joined {
            Ok(outcome) => outcome,
            Err(lost) => Err(match lost.try_into_panic() {
                Ok(payload) => ToolError::panicked(context.known_name(), panic_text(&*payload)),
                Err(_) => ToolError::cancelled(context.known_name()),
            }),
        });
        let outcome = Running::new(finished, context, self.timeout).await;
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

    /// How long the tool ran, all attempts together.
    pub(super) fn ran(&self) -> Duration {
        Duration::from_nanos(self.ran.load(Ordering::Relaxed))
    }
}

impl Execute for Execution {
    fn execute(&self, request: ToolRequest) -> Answer<'_> {
        Box::pin(async move {
            let outcome = self.run(request.arguments(), request.context()).await;
            if outcome.is_err() {
                // Middleware may answer in its place: what a failed attempt has written is void even then.
                request.context().begin(None);
            }
            outcome
        })
    }
}

/// A call on the blocking pool. Dropping it takes the call back if it has not begun.
struct Thread(JoinHandle<Outcome>);

impl Drop for Thread {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Whether calls of the tool wait for others or for a thread.
#[inline]
pub(super) fn is_scheduled(metadata: &ToolMetadata) -> bool {
    metadata.exclusive || metadata.blocking || metadata.lane.is_some() || metadata.max_concurrency.is_some()
}

/// What keeps the calls of one batch in their order.
pub(super) fn ordered(tool: &dyn Tool, arguments: &str) -> impl Iterator<Item = Resource> {
    let definition = tool.definition();
    let exclusive = definition.metadata.exclusive.then(|| Resource::Tool(definition.name.as_str().into()));
    exclusive.into_iter().chain(lane(tool, arguments))
}

/// The lane of a call: the value of the parameter that the tool names.
fn lane(tool: &dyn Tool, arguments: &str) -> Option<Resource> {
    let parameter = tool.definition().metadata.lane.as_deref()?;
    let value = tool.lane_value(arguments)?;
    Some(Resource::Lane { parameter: parameter.into(), value: value.into() })
}
