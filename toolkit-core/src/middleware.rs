//! What stands between a call and the tool: it may change the call, answer it, or let it through.

mod attempt_limit;
#[cfg(feature = "cache")]
mod cache;
mod callbacks;
mod deduplicate;
mod pattern;
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
pub use permissions::{Approval, ApprovalRequest, Permission, PermissionRule, Permissions};
pub use rate_limit::RateLimit;
pub use request::ToolRequest;
pub use retry::Retry;
#[cfg(feature = "tower")]
pub use tower::{NextService, ServiceRequest, TowerMiddleware};

use crate::error::ToolError;
use crate::output::ToolOutput;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

type Outcome = Result<ToolOutput, ToolError>;

/// A future of an outcome, in a box.
pub(crate) type Answer<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// What stands between a call and the tool.
///
/// It sees each call of a known tool after its turn has come and before it takes a place among those that run, so
/// it may wait for as long as it likes: others are held up only in the lane of the call. It calls [`Next::run`] to go
/// on, as often as it likes; or it does not, and answers itself. It is dropped when the call is cancelled,
/// and a panic becomes the error of its call. Time limits hold for the tool alone.
///
/// A closure of the same form is one, too. Its parameters need their types:
///
/// ```
/// use toolkit::{Dispatcher, ToolCall, ToolError, ToolRegistry};
/// use toolkit::middleware::{Next, ToolRequest};
/// # use toolkit::ClosureTool;
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
/// # Ok::<(), toolkit::BuildError>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a middleware",
    note = "a closure is one if it is `|request: ToolRequest, next: Next| async move {{ … }}` and gives back a `Result<ToolOutput, ToolError>`"
)]
pub trait Middleware: Send + Sync + 'static {
    /// Answers one call. An `async fn` implements it.
    ///
    /// # Errors
    /// What the model reads instead of an output.
    fn handle(
        &self,
        request: ToolRequest,
        next: Next,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
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

/// A middleware whose type was forgotten.
trait Layer: Send + Sync {
    fn answer(&self, request: ToolRequest, next: Next) -> Answer<'_>;
}

impl<M: Middleware> Layer for M {
    fn answer(&self, request: ToolRequest, next: Next) -> Answer<'_> {
        Box::pin(self.handle(request, next))
    }
}

/// The middleware of a dispatcher, outermost first. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Stack(Arc<Vec<Arc<dyn Layer>>>);

impl Stack {
    /// Adds a middleware inside of the others.
    pub(crate) fn push(&mut self, middleware: impl Middleware) {
        Arc::make_mut(&mut self.0).push(Arc::new(middleware));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The way through all of it to the tool.
    pub(crate) fn before(&self, tool: Arc<dyn Execute>) -> Next {
        Next { stack: self.clone(), at: 0, tool }
    }
}

/// What runs the tool in the end.
pub(crate) trait Execute: Send + Sync {
    fn execute(&self, request: ToolRequest) -> Answer<'_>;
}

/// What is left of the way to the tool. A middleware that wants to go it more than once clones it.
#[derive(Clone)]
pub struct Next {
    stack: Stack,
    at: usize,
    tool: Arc<dyn Execute>,
}

impl Next {
    /// Goes on to the next middleware, or runs the tool.
    ///
    /// # Errors
    /// What the model should read instead of an output.
    pub async fn run(mut self, request: ToolRequest) -> Result<ToolOutput, ToolError> {
        match self.stack.0.get(self.at).cloned() {
            Some(layer) => {
                self.at += 1;
                layer.answer(request, self).await
            }
            None => self.tool.execute(request).await,
        }
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("left", &(self.stack.0.len() - self.at)).finish()
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").field("len", &self.0.len()).finish()
    }
}
