//! Callbacks before and after a tool.

use super::{Middleware, Next, Outcome, OutcomeFuture, ToolRequest};
use crate::error::ToolError;
use crate::output::ToolOutput;
use std::future::ready;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;

type Going = ControlFlow<Outcome, ToolRequest>;
type BeforeCall = dyn Fn(ToolRequest) -> Pin<Box<dyn Future<Output = Going> + Send>> + Send + Sync;
type AfterCall = dyn Fn(ToolRequest, ToolOutput) -> OutcomeFuture<'static> + Send + Sync;
type OnError = dyn Fn(ToolRequest, ToolError) -> OutcomeFuture<'static> + Send + Sync;

/// Calls callbacks before and after a tool.
///
/// Callbacks of one kind are called in the order in which they were added. If a `before` callback returns
/// an outcome, the call ends without other callbacks or the tool.
///
/// Each `after` or `on_error` callback receives the output or error of the previous one. If it turns one
/// into the other, this is the final outcome. Clones share the callbacks.
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolCall, ToolOutput, ToolRegistry};
/// use toolkit_ai::middleware::Callbacks;
/// # use toolkit_ai::ClosureTool;
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let tools = ["look", "dangerous"].map(|name| ClosureTool::new(name, "Works.", |_: Nothing| "seen").unwrap());
/// # let registry = ToolRegistry::from_tools(tools)?;
/// let callbacks = Callbacks::new()
///     .before(|request| (request.definition().name.as_str() == "dangerous").then(|| Ok("blocked".into())))
///     .after(|_, output| Ok(output.with_message("audited")));
/// let dispatcher = Dispatcher::new(registry)?.with_middleware(callbacks);
/// let calls = ["look", "dangerous"].map(|name| ToolCall::new(name, name, "{}"));
/// let results = dispatcher.dispatch(calls).await;
/// assert_eq!(results[0].output().map(ToolOutput::message), Some("audited"));
/// assert_eq!(results[1].to_text(), "blocked");
/// # Ok::<(), toolkit_ai::BuildError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Callbacks {
    before: Vec<Arc<BeforeCall>>,
    after: Vec<Arc<AfterCall>>,
    on_error: Vec<Arc<OnError>>,
}

impl Callbacks {
    /// Creates middleware without callbacks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a callback before the tool, which may change the arguments or return the outcome.
    pub fn before(
        self,
        callback: impl Fn(&mut ToolRequest) -> Option<Result<ToolOutput, ToolError>> + Send + Sync + 'static,
    ) -> Self {
        self.before_async(move |request| ready(call_before(&callback, request)))
    }

    /// Adds an asynchronous callback before the tool.
    ///
    /// It returns `Continue` with the request, or `Break` with the outcome of the call.
    pub fn before_async<Fut>(mut self, callback: impl Fn(ToolRequest) -> Fut + Send + Sync + 'static) -> Self
    where
        Fut: Future<Output = ControlFlow<Result<ToolOutput, ToolError>, ToolRequest>> + Send + 'static,
    {
        self.before.push(Arc::new(move |request| Box::pin(callback(request))));
        self
    }

    /// Adds a callback to replace the output of a successful call.
    pub fn after(
        self,
        callback: impl Fn(&ToolRequest, ToolOutput) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.after_async(move |request, output| ready(callback(&request, output)))
    }

    /// Adds an asynchronous form of [`after`](Self::after).
    pub fn after_async<Fut>(
        mut self,
        callback: impl Fn(ToolRequest, ToolOutput) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        self.after.push(Arc::new(move |request, output| Box::pin(callback(request, output))));
        self
    }

    /// Adds a callback to replace the error of a failed call.
    pub fn on_error(
        self,
        callback: impl Fn(&ToolRequest, ToolError) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.on_error_async(move |request, error| ready(callback(&request, error)))
    }

    /// Adds an asynchronous form of [`on_error`](Self::on_error).
    pub fn on_error_async<Fut>(
        mut self,
        callback: impl Fn(ToolRequest, ToolError) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        self.on_error.push(Arc::new(move |request, error| Box::pin(callback(request, error))));
        self
    }
}

fn call_before(callback: &impl Fn(&mut ToolRequest) -> Option<Outcome>, mut request: ToolRequest) -> Going {
    match callback(&mut request) {
        Some(outcome) => ControlFlow::Break(outcome),
        None => ControlFlow::Continue(request),
    }
}

impl Middleware for Callbacks {
    async fn handle(&self, mut request: ToolRequest, next: Next) -> Outcome {
        for callback in &self.before {
            match callback(request).await {
                ControlFlow::Continue(changed) => request = changed,
                ControlFlow::Break(outcome) => return outcome,
            }
        }
        if self.after.is_empty() && self.on_error.is_empty() {
            return next.run(request).await;
        }
        match next.run(request.clone()).await {
            Ok(mut output) => {
                for callback in &self.after {
                    output = callback(request.clone(), output).await?;
                }
                Ok(output)
            }
            Err(mut error) => {
                for callback in &self.on_error {
                    match callback(request.clone(), error).await {
                        Ok(output) => return Ok(output),
                        Err(other) => error = other,
                    }
                }
                Err(error)
            }
        }
    }
}

impl_debug!(Callbacks, |this| before: this.before.len(), after: this.after.len(), on_error: this.on_error.len());
