//! Middleware: policies between calls and tools.

mod attempt_limit;
#[cfg(feature = "cache")]
mod cache;
mod callbacks;
mod deduplicate;
mod permissions;
mod rate_limit;
mod request;
mod retry;
#[cfg(feature = "tower")]
mod tower;

pub use attempt_limit::AttemptLimit;
#[cfg(feature = "cache")]
pub use cache::Cache;
pub use callbacks::Callbacks;
pub use deduplicate::Deduplicate;
pub(crate) use permissions::DecidedApproval;
pub use permissions::{Approval, ApprovalRequest, DecidedApprovals, Permission, PermissionRule, Permissions};
pub use rate_limit::RateLimit;
pub(crate) use request::CallArguments;
pub use request::ToolRequest;
pub use retry::Retry;
#[cfg(feature = "tower")]
pub use tower::{NextService, ServiceRequest, TowerMiddleware};

use crate::error::{BuildProblem, ErrorKind, ToolError};
use crate::output::{Outcome, ToolOutput};
use crate::registry::ToolRegistry;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio::time::Instant;

type OutcomeFuture<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// A policy around the calls of tools, such as permissions, retries or a cache.
///
/// Middleware receives each call of a known tool, before the call holds a permit. For an exclusive tool or
/// a lane, it starts when the earlier calls of the batch have ended. While middleware waits, all other
/// calls continue.
///
/// Middleware calls [`Next::run`] to continue, any number of times, or returns an outcome itself.
/// Cancelling the call drops the future. A panic becomes the error of the call. Time limits apply to the
/// tool alone.
///
/// Closures with the same signature are middleware, with the types of their parameters written out:
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolCall, ToolError, ToolRegistry};
/// use toolkit_ai::middleware::{Next, ToolRequest};
/// # use toolkit_ai::ClosureTool;
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let registry = ToolRegistry::from_tools([ClosureTool::new("reboot", "Reboots.", |_: Nothing| "done")?])?;
/// let dispatcher = Dispatcher::new(registry)?.with_middleware(|request: ToolRequest, next: Next| async move {
///     match request.definition().name.as_str() {
///         "reboot" => Err(ToolError::denied("reboot", "ask the operator")),
///         _ => next.run(request).await,
///     }
/// });
/// let results = dispatcher.dispatch([ToolCall::new("call_1", "reboot", "{}")]).await;
/// assert_eq!(results[0].to_text(), "Tool `reboot` was denied: ask the operator");
/// # Ok::<(), toolkit_ai::BuildError>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a middleware",
    note = "a closure is one if it is `|request: ToolRequest, next: Next| async move {{ … }}` and gives back a `Result<ToolOutput, ToolError>`"
)]
pub trait Middleware: Send + Sync + 'static {
    /// Handles one call, for example as an `async fn`.
    ///
    /// # Errors
    /// The error for the model in place of an output.
    fn handle(
        &self,
        request: ToolRequest,
        next: Next,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;

    /// Judges a call again, after an inner middleware has changed its arguments. Accepts by default.
    ///
    /// # Errors
    /// The error for the model if the call may not run.
    fn judge(&self, request: &mut ToolRequest) -> impl Future<Output = Result<(), ToolError>> + Send {
        let _ = request;
        std::future::ready(Ok(()))
    }

    /// Returns whether the middleware retries failed calls, up to the tool's
    /// [`retries`](crate::ToolMetadata::retries).
    ///
    /// If no middleware does, the dispatcher does. The default is `false`.
    fn retries(&self) -> bool {
        false
    }

    /// Returns the patterns for names of tools in the settings, by default none.
    ///
    /// [`Dispatcher::warnings`](crate::Dispatcher::warnings) reports names that no tool has.
    fn tool_patterns(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Returns a problem for each rule that should stop calls, but selects no tool of the registry.
    ///
    /// [`Dispatcher::check`](crate::Dispatcher::check) reports them. There are none by default, but
    /// middleware with other middleware inside returns those of that.
    fn rules_without_tools(&self, registry: &ToolRegistry) -> Vec<BuildProblem> {
        let _ = registry;
        Vec::new()
    }

    /// Boxes the middleware, to choose it at run time or to list it.
    #[must_use]
    fn boxed(self) -> BoxMiddleware
    where
        Self: Sized,
    {
        BoxMiddleware(Arc::new(self))
    }
}

impl<F, Fut> Middleware for F
where
    F: Fn(ToolRequest, Next) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Outcome> + Send,
{
    fn handle(&self, request: ToolRequest, next: Next) -> impl Future<Output = Outcome> + Send {
        self(request, next)
    }
}

/// A boxed [`Middleware`], created by [`Middleware::boxed`]. Clones share it.
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolRegistry};
/// use toolkit_ai::middleware::{AttemptLimit, BoxMiddleware, Middleware, Retry};
///
/// let policies: Vec<BoxMiddleware> = vec![AttemptLimit::new(3).boxed(), Retry::new().boxed()];
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?;
/// let dispatcher = policies.into_iter().fold(dispatcher, Dispatcher::with_middleware);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
pub struct BoxMiddleware(Arc<dyn DynMiddleware>);

impl Middleware for BoxMiddleware {
    fn handle(&self, request: ToolRequest, next: Next) -> impl Future<Output = Outcome> + Send {
        self.0.handle_boxed(request, next)
    }

    async fn judge(&self, request: &mut ToolRequest) -> Result<(), ToolError> {
        self.0.judge_boxed(request).await
    }

    fn retries(&self) -> bool {
        self.0.retries_calls()
    }

    fn tool_patterns(&self) -> Vec<&str> {
        self.0.patterns_of_tools()
    }

    fn rules_without_tools(&self, registry: &ToolRegistry) -> Vec<BuildProblem> {
        self.0.unmatched_rules(registry)
    }

    fn boxed(self) -> BoxMiddleware {
        self
    }
}

type Judgement<'a> = Pin<Box<dyn Future<Output = Result<(), ToolError>> + Send + 'a>>;

trait DynMiddleware: Send + Sync {
    fn handle_boxed(&self, request: ToolRequest, next: Next) -> OutcomeFuture<'_>;

    fn judge_boxed<'a>(&'a self, request: &'a mut ToolRequest) -> Judgement<'a>;

    fn retries_calls(&self) -> bool;

    fn patterns_of_tools(&self) -> Vec<&str>;

    fn unmatched_rules(&self, registry: &ToolRegistry) -> Vec<BuildProblem>;
}

impl<M: Middleware> DynMiddleware for M {
    fn handle_boxed(&self, request: ToolRequest, next: Next) -> OutcomeFuture<'_> {
        Box::pin(self.handle(request, next))
    }

    fn judge_boxed<'a>(&'a self, request: &'a mut ToolRequest) -> Judgement<'a> {
        Box::pin(self.judge(request))
    }

    fn retries_calls(&self) -> bool {
        self.retries()
    }

    fn patterns_of_tools(&self) -> Vec<&str> {
        self.tool_patterns()
    }

    fn unmatched_rules(&self, registry: &ToolRegistry) -> Vec<BuildProblem> {
        self.rules_without_tools(registry)
    }
}

/// The remaining middleware and the tool, for one call. Clone it to run the tool several times.
#[derive(Clone)]
pub struct Next {
    /// Outermost first. The one at index `at` is next.
    stack: Arc<Vec<BoxMiddleware>>,
    at: usize,
    /// Runs the tool, after all middleware in `stack`.
    tool: BoxMiddleware,
    /// The arguments that the previous middleware got. `None` before the first one.
    received: Option<Arc<CallArguments>>,
}

impl Next {
    pub(crate) fn new(stack: Arc<Vec<BoxMiddleware>>, tool: Arc<impl Middleware>) -> Self {
        Self { stack, at: 0, tool: BoxMiddleware(tool), received: None }
    }

    /// Calls the next middleware, or runs the tool.
    ///
    /// If the arguments have changed, all middleware before the caller [judges](Middleware::judge) the
    /// call again.
    ///
    /// # Errors
    /// The error for the model in place of an output.
    pub async fn run(mut self, mut request: ToolRequest) -> Result<ToolOutput, ToolError> {
        if let Some(received) = &self.received
            && !Arc::ptr_eq(received, request.call_arguments())
        {
            self.judge_again(&mut request).await?;
        }
        let next = self.stack.get(self.at).unwrap_or(&self.tool).clone();
        self.at += 1;
        self.received = Some(request.call_arguments().clone());
        next.0.handle_boxed(request, self).await
    }

    /// Lets the outer middleware judge the call, until none of it changes the arguments.
    async fn judge_again(&self, request: &mut ToolRequest) -> Result<(), ToolError> {
        let before = self.stack.get(..self.at.saturating_sub(1)).unwrap_or_default();
        for _ in 0..=before.len() {
            let arguments = request.call_arguments().clone();
            for middleware in before {
                middleware.0.judge_boxed(request).await?;
            }
            if Arc::ptr_eq(&arguments, request.call_arguments()) {
                return Ok(());
            }
        }
        let name = request.context().known_name();
        Err(ToolError::denied(name, "its arguments were changed again after each decision"))
    }
}

/// The outcome of identical calls, set when the first of them has run.
type SharedOutcome = Arc<OnceCell<EndedOutcome>>;

struct EndedOutcome {
    outcome: Outcome,
    #[cfg_attr(not(feature = "cache"), expect(dead_code, reason = "only cached outcomes expire"))]
    at: Instant,
}

/// Runs the call, unless an identical call has run or is running, and returns the shared outcome.
///
/// The `bool` tells whether this call itself ran. If the running call is cancelled or pending, one of the
/// waiting calls runs instead.
async fn run_once(shared: &SharedOutcome, request: ToolRequest, next: Next) -> (Outcome, bool) {
    let name = request.context().known_name().to_owned();
    let mut waiting = Some((request, next));
    let run = async {
        let (request, next) = waiting.take().ok_or_else(|| ToolError::cancelled(&name))?;
        match next.run(request).await {
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Pending) => Err(error),
            outcome => Ok(EndedOutcome { outcome, at: Instant::now() }),
        }
    };
    let shared = shared.get_or_try_init(|| run).await;
    match (shared, waiting) {
        (Ok(shared), waiting) => (shared.outcome.clone(), waiting.is_none()),
        (Err(cancelled), waiting) => (Err(cancelled), waiting.is_none()),
    }
}

impl_debug!(EndedOutcome, |this| outcome: this.outcome);
impl_debug!(BoxMiddleware);
impl_debug!(Next, |this| left: this.stack.len().saturating_sub(this.at));
