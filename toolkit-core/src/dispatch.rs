//! Running the calls of a model: all at once, and exactly one result for each.

mod batch;
mod events;
mod execution;
mod finish;
mod gates;
mod handle;
mod open;
mod pending;
#[cfg(feature = "tower")]
mod service;
mod span;
mod stream;
mod sync;
mod turns;

pub use handle::BatchHandle;
pub use open::OpenBatch;
pub use pending::PendingResult;
#[cfg(feature = "tower")]
pub use service::{DispatchFuture, DispatchService};
pub use stream::ToolResultStream;

use crate::call::ToolCall;
use crate::error::BuildError;
use crate::event::Hub;
use crate::middleware::{Middleware, Stack};
use crate::registry::{RegistrySource, ToolRegistry};
use crate::result::ToolResult;
use crate::tool::Tool;
use batch::{Batch, Task};
use finish::Finish;
use gates::Gates;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

/// Runs the calls that a model asks for.
///
/// The calls of a batch run at the same time. Whatever happens to one (no such tool, wrong arguments,
/// a failure, a panic, a time limit, cancellation), there is exactly one [`ToolResult`] for each call,
/// and none disturbs the others. It needs a running tokio runtime, with time enabled if there are time limits; with more than one worker
/// thread, calls run in parallel.
///
/// A time limit is the tool's own, else the dispatcher's, else the registry's; in any case at most the
/// hard limit. `Duration::MAX` says that there is none, and goes before those that come after it; a limit of zero
/// leaves no time to wait for anything. The time counts from the moment the tool runs. A synchronous tool cannot
/// be interrupted: it is done when it returns, unless it is marked as [`blocking`](crate::ToolMetadata::blocking).
/// Then it runs on a thread of its own, and a call that is given up has its result at once, is left to finish, and
/// holds its place until then.
///
/// # What waits for what
///
/// A call waits until those before it let it run: calls of an [`exclusive`](crate::ToolMetadata::exclusive) tool and
/// calls in one [`lane`](crate::ToolMetadata::lane) run one after another, in their order within a batch; there
/// may be at most [`max_concurrency`](crate::ToolMetadata::max_concurrency) of a tool and
/// [`with_max_concurrency`](Self::with_max_concurrency) of all. This holds for all batches of a dispatcher
/// and its clones, from whichever tasks they come, and batches take turns. A tool that dispatches through its own
/// dispatcher needs a second place there while it holds the first.
///
/// ```
/// use toolkit::{Dispatcher, ToolCall, ToolRegistry};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?;
/// let results = dispatcher.dispatch([ToolCall::new("call_1", "add", "{}")]).await;
/// assert_eq!(results[0].outcome.as_ref().unwrap_err().brief(), "Tool `add` not found");
/// # Ok::<(), toolkit::BuildError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Dispatcher {
    registry: RegistrySource,
    timeout: Option<Duration>,
    hard_limit: Option<Duration>,
    finish: Arc<Finish>,
    max_concurrency: Option<usize>,
    middleware: Stack,
    /// Whether there is something that concerns every call: a limit of all, or middleware.
    every_call_planned: bool,
    hub: Arc<Hub>,
    /// Shared with the clones.
    gates: Arc<Gates>,
}

impl Dispatcher {
    /// A dispatcher for the tools of a registry. Of a [live](crate::LiveRegistry) one, each batch gets the tools that
    /// are there when it starts, and keeps them.
    ///
    /// # Errors
    /// [`BuildError`] with every [collision](ToolRegistry::check) and every [state](ToolRegistry::with_state)
    /// that a tool needs and the registry does not have.
    pub fn new(registry: impl Into<RegistrySource>) -> Result<Self, BuildError> {
        let registry = registry.into();
        registry.snapshot().check_complete()?;
        Ok(Self {
            registry,
            timeout: None,
            hard_limit: None,
            finish: Arc::default(),
            max_concurrency: None,
            middleware: Stack::default(),
            every_call_planned: false,
            hub: Arc::default(),
            gates: Arc::default(),
        })
    }

    /// Gives the dispatcher other tools. All else stays, and what it has in common with its clones, too.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn with_registry(self, registry: impl Into<RegistrySource>) -> Result<Self, BuildError> {
        let registry = registry.into();
        registry.snapshot().check_complete()?;
        Ok(Self { registry, ..self })
    }

    /// Sets how long a call may run if its tool does not say.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Sets how long a call may run whatever its tool says.
    #[must_use]
    pub fn with_hard_limit(mut self, limit: Duration) -> Self {
        self.hard_limit = Some(limit);
        self
    }

    /// Sets how many calls may run at the same time, at least one.
    #[must_use]
    pub fn with_max_concurrency(mut self, calls: usize) -> Self {
        self.max_concurrency = Some(calls);
        self.every_call_planned = true;
        self
    }

    /// Puts a [`Middleware`] between calls and tools, inside of those that are there: the first sees a call first and
    /// its result last.
    #[must_use]
    pub fn with_middleware(mut self, middleware: impl Middleware) -> Self {
        self.middleware.push(middleware);
        self.every_call_planned = true;
        self
    }

    /// The tools that a batch would get now.
    #[must_use]
    pub fn registry(&self) -> Arc<ToolRegistry> {
        self.registry.snapshot()
    }

    /// Runs the calls at the same time and waits for all. The results are in the order of the calls.
    ///
    /// Dropping the future stops the calls that still run.
    pub async fn dispatch(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        self.run(calls, None).await
    }

    /// Like [`dispatch`](Self::dispatch), with a handle that stops all calls or one. Every call that is stopped
    /// still has its result, which says so.
    pub async fn dispatch_with(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        handle: impl Into<BatchHandle>,
    ) -> Vec<ToolResult> {
        self.run(calls, Some(handle.into())).await
    }

    /// Starts the calls and gives their results as they come, first done first.
    /// [`ToolResult::position`] says which call it was.
    ///
    /// Dropping the stream stops the calls that still run.
    ///
    /// # Panics
    /// Like `tokio::spawn`, if no tokio runtime is running.
    pub fn dispatch_stream(&self, calls: impl IntoIterator<Item = ToolCall>) -> ToolResultStream {
        self.start(calls.into_iter().collect(), None)
    }

    /// Like [`dispatch_stream`](Self::dispatch_stream), with a handle that stops all calls or one.
    ///
    /// # Panics
    /// Like `tokio::spawn`, if no tokio runtime is running.
    pub fn dispatch_stream_with(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        handle: impl Into<BatchHandle>,
    ) -> ToolResultStream {
        self.start(calls.into_iter().collect(), Some(handle.into()))
    }

    async fn run(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        handle: Option<BatchHandle>,
    ) -> Vec<ToolResult> {
        match one_or_all(calls) {
            Ok(only) => self.run_one(only, handle).await,
            Err(calls) => self.run_all(calls, handle).await,
        }
    }

    /// Runs the call here: a task of its own would cost more than most tools.
    async fn run_one(&self, call: ToolCall, handle: Option<BatchHandle>) -> Vec<ToolResult> {
        let (identity, work) = Batch::new(self, slice::from_ref(&call), handle).prepare(call);
        let results = vec![identity.result(work.run().await)];
        self.finish.apply_changes(&results);
        results
    }

    async fn run_all(&self, calls: Vec<ToolCall>, handle: Option<BatchHandle>) -> Vec<ToolResult> {
        let mut batch = Batch::new(self, &calls, handle);
        let mut tasks = Vec::with_capacity(calls.len());
        for call in calls {
            let (identity, work) = batch.prepare(call);
            tasks.push((identity, Task::spawn(work)));
        }
        drop(batch);
        let mut results = Vec::with_capacity(tasks.len());
        for (identity, mut task) in tasks {
            results.push(match task.join().await {
                Ok(ended) => identity.result(ended),
                Err(lost) => identity.lost(lost),
            });
        }
        self.finish.apply_changes(&results);
        results
    }

    fn start(&self, calls: Vec<ToolCall>, handle: Option<BatchHandle>) -> ToolResultStream {
        let mut stream = ToolResultStream::new(calls.len(), self.finish.clone());
        let mut batch = Batch::new(self, &calls, handle);
        for call in calls {
            let (identity, work) = batch.prepare(call);
            stream.spawn(identity, work);
        }
        stream
    }

    fn limit(&self, registry: &ToolRegistry, tool: &dyn Tool) -> Option<Duration> {
        let wanted = tool.definition().metadata.timeout.or(self.timeout).or(registry.timeout());
        match (wanted, self.hard_limit) {
            (Some(wanted), Some(hard)) => Some(wanted.min(hard)),
            (wanted, hard) => wanted.or(hard),
        }
    }
}

/// The only call, or all if there is not just one.
fn one_or_all(calls: impl IntoIterator<Item = ToolCall>) -> Result<ToolCall, Vec<ToolCall>> {
    let mut calls = calls.into_iter();
    let Some(first) = calls.next() else { return Err(Vec::new()) };
    match calls.next() {
        None => Ok(first),
        Some(second) => Err([first, second].into_iter().chain(calls).collect()),
    }
}
