//! The dispatcher: runs the calls of a model concurrently, with exactly one result for each.

mod batch;
mod checks;
mod execution;
mod gates;
mod listening;
mod nested;
mod outcomes;
mod preparation;
mod prepared_call;
mod results;
mod scheduled_call;
#[cfg(feature = "tower")]
mod service;
mod settings;
mod span;
mod sync;
mod turns;
mod waits;

pub use batch::Batch;
#[cfg(feature = "tower")]
pub use service::{DispatchFuture, DispatchService};

use crate::call::ToolCall;
use crate::context::RunContext;
use crate::definition::Tool;
use crate::error::{BuildError, ToolError};
use crate::guard::guarded;
use crate::middleware::{Approval, Middleware};
use crate::output::ToolOutput;
use crate::registry::{IntoArguments, IntoRegistrySource, RegistrySource, ToolRegistry};
use crate::result::ToolResult;
use batch::Cancellation;
use preparation::{Numbering, Preparation};
use prepared_call::PreparedCall;
use settings::Settings;
use span::Warned;
use std::iter;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// Runs the calls of a model.
///
/// The calls of a batch run concurrently, on several worker threads. Each call has exactly one
/// [`ToolResult`], even if it fails, panics, times out or is cancelled. Clones are cheap and share
/// permits.
///
/// Without a tokio runtime, [`dispatch`](Self::dispatch) runs the calls one after another. Batches, time
/// limits, retries and blocking tools need a runtime. Time limits and retries also need its timer
/// ([`enable_time`](tokio::runtime::Builder::enable_time)): without it, a limited call that waits or runs
/// on the blocking pool ends with an error of the kind [`Panicked`](crate::ErrorKind::Panicked).
///
/// Failed calls are [retried](crate::middleware::Retry), up to the tool's number of
/// [`retries`](crate::ToolMetadata::retries).
///
/// The time limit of a call is the limit of the tool, or else of the dispatcher, or else of the registry.
/// It counts from the start of the tool, and `Duration::MAX` means no limit. The [hard
/// limit](Self::with_hard_limit) caps it.
///
/// A synchronous tool cannot be interrupted. A [`blocking`](crate::ToolMetadata::blocking) tool runs on a
/// separate thread. If its call is abandoned, the result is available at once, while the thread runs to
/// its end and keeps the permits.
///
/// # Order and concurrency
///
/// Calls of an [`exclusive`](crate::ToolMetadata::exclusive) tool, and calls in one
/// [`lane`](crate::ToolMetadata::lane), such as those with the same `path` argument, run one after
/// another, in the order of the batch.
///
/// A tool runs at most [`max_concurrency`](crate::ToolMetadata::max_concurrency) calls at once, and all
/// tools together [`with_max_concurrency`](Self::with_max_concurrency) calls. These limits hold for all
/// batches of a dispatcher and its clones, and batches take turns. A call that dispatches calls through
/// the same dispatcher keeps its own permit while they wait for theirs.
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolCall, ToolRegistry};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?;
/// let results = dispatcher.dispatch([ToolCall::new("call_1", "add", "{}")]).await;
/// assert_eq!(results[0].outcome.as_ref().unwrap_err().brief(), "Tool `add` not found");
/// # Ok::<(), toolkit_ai::BuildError>(())
/// # }).unwrap();
/// ```
#[doc(alias("ToolNode", "executor"))]
#[derive(Debug, Clone)]
#[must_use]
pub struct Dispatcher {
    registry: RegistrySource,
    settings: Arc<Settings>,
    /// No setting, so that a run with its own dispatcher copies none.
    run: Option<Arc<RunContext>>,
}

impl Dispatcher {
    /// Creates a dispatcher for the tools of a registry, or for a list of tools.
    ///
    /// If the registry is [live](crate::LiveRegistry), each batch takes a snapshot.
    ///
    /// # Errors
    /// [`BuildError`] with every [collision](ToolRegistry::check), and with every required
    /// [state](ToolRegistry::with_state) that the registry lacks.
    pub fn new(registry: impl IntoRegistrySource) -> Result<Self, BuildError> {
        Self { registry: ToolRegistry::new().into_registry_source(), settings: Arc::default(), run: None }
            .with_registry(registry)
    }

    /// Replaces the registry; clones still share permits.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn with_registry(self, registry: impl IntoRegistrySource) -> Result<Self, BuildError> {
        let registry = registry.into_registry_source();
        registry.snapshot().check_complete()?;
        let is_live = matches!(registry, RegistrySource::Live(_));
        let mut dispatcher = Self { registry, ..self };
        let settings = Arc::make_mut(&mut dispatcher.settings);
        settings.is_live = is_live;
        settings.warned = Warned::default();
        Ok(dispatcher)
    }

    /// Replaces the registry by one made of the current tools.
    ///
    /// In contrast to [`with_registry`](Self::with_registry), a dispatcher for a live registry remains
    /// one, whose rules may select no tool for now.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    #[doc(hidden)]
    pub fn with_snapshot(self, registry: impl Into<Arc<ToolRegistry>>) -> Result<Self, BuildError> {
        let is_live = self.settings.is_live;
        let dispatcher = self.with_registry(registry.into())?;
        Ok(dispatcher.with(|settings| settings.is_live = is_live))
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    /// Sets the time limit for tools without their own.
    pub fn with_timeout(self, limit: Duration) -> Self {
        self.with(|settings| settings.timeout = Some(limit))
    }

    /// Sets the maximum for every other time limit.
    pub fn with_hard_limit(self, limit: Duration) -> Self {
        self.with(|settings| settings.hard_limit = Some(limit))
    }

    /// Sets the maximum of calls running at once. Zero counts as one.
    pub fn with_max_concurrency(self, calls: usize) -> Self {
        self.with(|settings| settings.max_concurrency = Some(calls))
    }

    /// Adds a [`Middleware`]. The first one added receives each call first and its result last.
    ///
    /// Permissions that name no tool refuse all calls, see [`check`](Self::check).
    pub fn with_middleware(mut self, middleware: impl Middleware) -> Self {
        let settings = Arc::make_mut(&mut self.settings);
        Arc::make_mut(&mut settings.middleware).push(middleware.boxed());
        settings.warned = Warned::default();
        self
    }

    /// Returns the current tools.
    #[must_use]
    pub fn registry(&self) -> Arc<ToolRegistry> {
        self.registry.snapshot()
    }

    /// Returns the source of the tools.
    #[must_use]
    pub fn source(&self) -> &RegistrySource {
        &self.registry
    }

    /// Checks a call without running the tool or the middleware.
    ///
    /// # Errors
    /// The error of [`ToolRegistry::validate`].
    pub fn validate(&self, call: &ToolCall) -> Result<(), ToolError> {
        let valid = match guarded(|| self.registry().validate(&call.name, call.arguments.as_str())) {
            Ok(valid) => valid,
            Err(panicked) => Err(ToolError::panicked(&call.name, &panicked.0)),
        };
        valid.map_err(|error| self.settings.failure(&call.name, error))
    }

    /// Runs one call of the program, with all middleware, and returns its output.
    ///
    /// The arguments are JSON text, or another value with [`IntoArguments`].
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, Dispatcher, ErrorKind};
    /// use toolkit_ai::middleware::{PermissionRule, Permissions};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let hello = ClosureTool::without_arguments("hello", "Greets.", || "Hello!")?;
    /// let dispatcher = Dispatcher::new([hello])?;
    /// assert_eq!(dispatcher.call("hello", "{}").await?.to_text(), "Hello!");
    ///
    /// let rules = Permissions::new().rule(PermissionRule::deny("not today"));
    /// let denied = dispatcher.with_middleware(rules).call("hello", "{}").await;
    /// assert_eq!(denied.unwrap_err().kind(), ErrorKind::Denied);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The [`ToolError`] of the call.
    pub async fn call<'a>(
        &self,
        name: &str,
        arguments: impl IntoArguments<'a>,
    ) -> Result<ToolOutput, ToolError> {
        let call = ToolCall::new("", name, arguments.into_arguments()?.into_owned());
        self.run_one(&self.snapshot(), call, None, self.run.as_ref(), None, |_| ()).await.0.outcome
    }

    /// Runs the calls concurrently, and returns their results in order.
    ///
    /// Dropping the future stops the running calls.
    pub fn dispatch(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
    ) -> impl Future<Output = Vec<ToolResult>> {
        // An `async fn` would wrap the future in another future.
        self.run(calls, None)
    }

    /// Runs the calls concurrently until `cancellation` is cancelled.
    ///
    /// A call that has not ended by then has an error of the kind
    /// [`Cancelled`](crate::ErrorKind::Cancelled). To cancel single calls, use a [`batch`](Self::batch).
    ///
    /// ```
    /// use toolkit_ai::{CancellationToken, Dispatcher, ErrorKind, ClosureTool, ToolCall, ToolRegistry};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Nothing {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let forever = ClosureTool::new("wait", "Waits.", |_: Nothing| std::future::pending::<()>())?;
    /// let dispatcher = Dispatcher::new(ToolRegistry::from_tools([forever])?)?;
    /// let token = CancellationToken::new();
    /// let results = dispatcher.dispatch_with([ToolCall::new("call_1", "wait", "{}")], token.clone());
    /// token.cancel();
    /// assert_eq!(results.await[0].error().map(|error| error.kind()), Some(ErrorKind::Cancelled));
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// # }).unwrap();
    /// ```
    pub fn dispatch_with(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        cancellation: CancellationToken,
    ) -> impl Future<Output = Vec<ToolResult>> {
        self.run(calls, Some(cancellation))
    }

    /// Runs one call, and returns its result with the tool found for it.
    #[doc(hidden)]
    pub async fn dispatch_found(
        &self,
        call: ToolCall,
        cancellation: CancellationToken,
    ) -> (ToolResult, Option<Arc<dyn Tool>>) {
        self.dispatch_in(&self.snapshot(), call, cancellation).await
    }

    /// Runs one call with the tools of `registry`, a snapshot known to the program.
    #[doc(hidden)]
    pub async fn dispatch_in(
        &self,
        registry: &Arc<ToolRegistry>,
        call: ToolCall,
        cancellation: CancellationToken,
    ) -> (ToolResult, Option<Arc<dyn Tool>>) {
        let run = self.run.as_ref();
        self.run_one(registry, call, Some(cancellation), run, None, |call| call.tool().cloned()).await
    }

    /// Starts the calls as a [`Batch`], which accepts more calls.
    pub fn batch(&self, calls: impl IntoIterator<Item = ToolCall>) -> Batch {
        self.start(calls, Some(Cancellation::default()))
    }

    /// Starts the calls as a [`Batch`]. Cancelling `cancellation` cancels all of them.
    pub fn batch_with(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        cancellation: CancellationToken,
    ) -> Batch {
        self.start(calls, Some(cancellation.into()))
    }

    fn start(&self, calls: impl IntoIterator<Item = ToolCall>, cancellation: Option<Cancellation>) -> Batch {
        let mut batch = Batch::new(self.settings.clone(), self.snapshot(), self.run.clone(), cancellation);
        batch.extend(calls);
        batch
    }

    async fn run(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        cancellation: Option<CancellationToken>,
    ) -> Vec<ToolResult> {
        let mut calls = calls.into_iter();
        let Some(first) = calls.next() else { return Vec::new() };
        match calls.next() {
            None => vec![
                self.run_one(&self.snapshot(), first, cancellation, self.run.as_ref(), None, |_| ()).await.0,
            ],
            Some(second) => {
                let calls = iter::once(first).chain(iter::once(second)).chain(calls);
                match Handle::try_current() {
                    Ok(_) => self.start(calls, cancellation.map(Cancellation::from)).finish().await,
                    Err(_) => self.run_in_row(calls, cancellation).await,
                }
            }
        }
    }

    /// Runs the calls one after another, because without a tokio runtime there are no other tasks.
    #[cold]
    async fn run_in_row(
        &self,
        calls: impl Iterator<Item = ToolCall>,
        cancellation: Option<CancellationToken>,
    ) -> Vec<ToolResult> {
        let settings = &self.settings;
        let registry = self.snapshot();
        let numbering = &mut Numbering::default();
        let run = self.run.as_ref();
        let mut prepared = Vec::with_capacity(calls.size_hint().0);
        for call in calls {
            let preparation = Preparation {
                settings,
                registry: &registry,
                run,
                decided: None,
                numbering: &mut *numbering,
                turns: None,
            };
            prepared.push(preparation.prepare(call, cancellation.clone()));
        }
        let mut results = Vec::with_capacity(prepared.len());
        for mut call in prepared {
            let ended = call.run(settings, &registry, run).await;
            results.push(call.into_result(ended));
        }
        if let Some(run) = run {
            run.apply(&ToolResult::merged_actions(&results).state_delta);
        }
        results
    }

    /// Runs a call on the task of the caller, because a separate task would cost more than most tools.
    ///
    /// Returns the result with what `inspect` reads of the prepared call. `decided` is an outer
    /// dispatcher's approval.
    async fn run_one<T>(
        &self,
        registry: &Arc<ToolRegistry>,
        call: ToolCall,
        cancellation: Option<CancellationToken>,
        run: Option<&Arc<RunContext>>,
        decided: Option<Box<Approval>>,
        inspect: impl FnOnce(&PreparedCall) -> T,
    ) -> (ToolResult, T) {
        let settings = &self.settings;
        let numbering = &mut Numbering::default();
        let preparation = Preparation { settings, registry, run, decided, numbering, turns: None };
        let mut call = preparation.prepare(call, cancellation);
        let ended = call.run(settings, registry, run).await;
        let inspected = inspect(&call);
        let result = call.into_result(ended);
        if let Some(run) = &self.run {
            run.apply(&result.actions.state_delta);
        }
        (result, inspected)
    }
}
