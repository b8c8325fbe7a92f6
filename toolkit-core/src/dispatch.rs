//! Running the calls of a model: all at once, and exactly one result for each.

mod finish;
mod stream;

pub use stream::ToolResultStream;

use crate::call::{CallId, ProviderExtras, ToolCall};
use crate::context::{ToolActions, ToolContext};
use crate::error::{BuildError, ToolError};
use crate::output::ToolOutput;
use crate::registry::{RegistrySource, ToolRegistry};
use crate::result::ToolResult;
use crate::tool::{Tool, panic_text, start};
use finish::Finish;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;

/// Runs the calls that a model asks for.
///
/// The calls of a batch run at the same time. Whatever happens to one (no such tool, wrong arguments,
/// a failure, a panic, a time limit, cancellation), there is exactly one [`ToolResult`] for each call,
/// and none disturbs the others. It needs a running tokio runtime, with time enabled if there are time limits; with more than one worker
/// thread, calls run in parallel.
///
/// A time limit is the tool's own, else the dispatcher's, else the registry's; in any case at most the
/// hard limit. It counts from the start of the call. A synchronous tool cannot be interrupted: it
/// is done when it returns.
///
/// ```
/// use toolkit_core::{Dispatcher, ToolCall, ToolRegistry};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?;
/// let results = dispatcher.dispatch([ToolCall::new("call_1", "add", "{}")]).await;
/// assert_eq!(results[0].outcome.as_ref().unwrap_err().brief(), "Tool `add` not found");
/// # Ok::<(), toolkit_core::BuildError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Dispatcher {
    registry: RegistrySource,
    timeout: Option<Duration>,
    hard_limit: Option<Duration>,
    finish: Arc<Finish>,
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
        Ok(Self { registry, timeout: None, hard_limit: None, finish: Arc::default() })
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

    /// The tools that a batch would get now.
    #[must_use]
    pub fn registry(&self) -> Arc<ToolRegistry> {
        self.registry.snapshot()
    }

    /// Runs the calls at the same time and waits for all. The results are in the order of the calls.
    ///
    /// Dropping the future stops the calls that still run.
    pub async fn dispatch(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        self.run_all(calls.into_iter().collect(), None).await
    }

    /// Like [`dispatch`](Self::dispatch); when the token is cancelled, every call that still runs is
    /// stopped and its result says so.
    pub async fn dispatch_with(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        cancellation: CancellationToken,
    ) -> Vec<ToolResult> {
        self.run_all(calls.into_iter().collect(), Some(cancellation)).await
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

    /// Like [`dispatch_stream`](Self::dispatch_stream), with a token that stops what still runs.
    ///
    /// # Panics
    /// Like `tokio::spawn`, if no tokio runtime is running.
    pub fn dispatch_stream_with(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        cancellation: CancellationToken,
    ) -> ToolResultStream {
        self.start(calls.into_iter().collect(), Some(cancellation))
    }

    async fn run_all(
        &self,
        mut calls: Vec<ToolCall>,
        cancellation: Option<CancellationToken>,
    ) -> Vec<ToolResult> {
        let registry = self.registry.snapshot();
        if calls.len() <= 1 {
            // A task of its own would cost more than most tools.
            return match calls.pop() {
                Some(call) => {
                    let (identity, run) = self.prepare(&registry, 0, call, cancellation);
                    let results = vec![identity.result(run.await)];
                    self.finish.apply_changes(&results);
                    results
                }
                None => Vec::new(),
            };
        }
        let mut tasks = Vec::with_capacity(calls.len());
        for (position, call) in calls.into_iter().enumerate() {
            let (identity, run) = self.prepare(&registry, position, call, cancellation.clone());
            tasks.push((identity, Task(tokio::spawn(Box::pin(run)))));
        }
        let mut results = Vec::with_capacity(tasks.len());
        for (identity, mut task) in tasks {
            results.push(match (&mut task.0).await {
                Ok(ended) => identity.result(ended),
                Err(lost) => identity.lost(lost),
            });
        }
        self.finish.apply_changes(&results);
        results
    }

    fn start(&self, calls: Vec<ToolCall>, cancellation: Option<CancellationToken>) -> ToolResultStream {
        let registry = self.registry.snapshot();
        let mut stream = ToolResultStream::new(calls.len(), self.finish.clone());
        for (position, call) in calls.into_iter().enumerate() {
            let (identity, run) = self.prepare(&registry, position, call, cancellation.clone());
            stream.spawn(identity, run);
        }
        stream
    }

    /// Looks the tool up now, so that a later change of the registry makes no difference, and
    /// returns the call ready to run.
    fn prepare(
        &self,
        registry: &ToolRegistry,
        position: usize,
        call: ToolCall,
        cancellation: Option<CancellationToken>,
    ) -> (Identity, impl Future<Output = Ended> + Send + 'static + use<>) {
        let resolved = match registry.get(&call.name) {
            Some(tool) => Ok((tool.clone(), self.limit(registry, &**tool))),
            None => Err(self.finish.failure(&call.name, registry.not_found(&call.name))),
        };
        let ToolCall { id, name, arguments, extras, .. } = call;
        let (arguments, reason) = match &resolved {
            Ok((tool, _)) => registry.part_reason_owned(tool.definition(), arguments),
            Err(_) => (arguments, None),
        };
        let (call_id, told) = (id.clone(), reason.clone());
        let state = registry.state().cloned();
        let respelled = resolved.as_ref().is_ok_and(|(tool, _)| tool.definition().name.as_str() != name);
        let spelling = respelled.then(|| name.as_str().into());
        let finish = self.finish.clone();
        let run = async move {
            let started = Instant::now();
            let ended = |outcome| Ended {
                position,
                outcome,
                actions: ToolActions::default(),
                duration: started.elapsed(),
            };
            let (tool, limit) = match resolved {
                Ok(resolved) => resolved,
                Err(error) => return ended(Err(error)),
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
            let outcome = match start(&*tool, arguments.as_str(), &context, limit) {
                Ok(outcome) => outcome,
                Err(running) => running.await,
            };
            let actions = context.end(outcome.is_ok());
            Ended { actions, ..ended(finish.outcome(&*tool, &context, outcome)) }
        };
        (Identity { position, call_id: id, name, reason, extras }, run)
    }

    fn limit(&self, registry: &ToolRegistry, tool: &dyn Tool) -> Option<Duration> {
        let wanted = tool.definition().metadata.timeout.or(self.timeout).or(registry.timeout());
        match (wanted, self.hard_limit) {
            (Some(wanted), Some(hard)) => Some(wanted.min(hard)),
            (wanted, hard) => wanted.or(hard),
        }
    }
}

/// Whose result it will be. It stays behind when the call goes to a task of its own.
struct Identity {
    position: usize,
    call_id: CallId,
    name: String,
    reason: Option<String>,
    extras: ProviderExtras,
}

/// How a call ended.
struct Ended {
    position: usize,
    outcome: Result<ToolOutput, ToolError>,
    actions: ToolActions,
    duration: Duration,
}

impl Identity {
    fn result(self, Ended { outcome, actions, duration, .. }: Ended) -> ToolResult {
        let Self { position, call_id, name, reason, extras } = self;
        ToolResult { position, duration, reason, actions, extras, ..ToolResult::new(call_id, name, outcome) }
    }

    /// The result of a call whose task was taken away from us, by the runtime's end or by a panic that
    /// even the guards did not catch.
    #[cold]
    fn lost(self, lost: JoinError) -> ToolResult {
        let error = match lost.try_into_panic() {
            Ok(payload) => ToolError::panicked(&self.name, panic_text(&*payload)),
            Err(_) => ToolError::cancelled(&self.name),
        };
        let position = self.position;
        let actions = ToolActions::default();
        self.result(Ended { position, outcome: Err(error), actions, duration: Duration::ZERO })
    }
}

/// A call on its way. Dropping it stops the call.
struct Task(JoinHandle<Ended>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
