//! One call that was handed over and is on its way.

use super::batch::{Batch, Task};
use super::{BatchHandle, Dispatcher};
use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::result::ToolResult;
use crate::tool::{ToolDefinition, ToolFuture, ToolProvider};
use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::slice;
use std::task::{Context, Poll};
use tokio::runtime::Handle;

/// A call that was [handed over](Dispatcher::handle): the future of its result. It runs whether the future is awaited
/// or not; dropping it stops the call.
#[must_use = "dropping it stops the call"]
pub struct PendingResult(Pin<Box<dyn Future<Output = ToolResult> + Send>>);

impl Future for PendingResult {
    type Output = ToolResult;

    fn poll(mut self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<ToolResult> {
        self.0.as_mut().poll(waker)
    }
}

impl fmt::Debug for PendingResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PendingResult")
    }
}

impl Dispatcher {
    /// Starts one call and comes back at once: for calls that a response brings one by one, while it still streams.
    /// It never blocks and never fails: whatever goes wrong, an unknown tool or no runtime to run on, is what the
    /// result says.
    ///
    /// ```
    /// use toolkit::{Dispatcher, ToolCall, ToolRegistry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let dispatcher = Dispatcher::new(ToolRegistry::new())?;
    /// let pending = dispatcher.handle(ToolCall::new("call_1", "add", "{}"));
    /// // ... the rest of the stream is read ...
    /// assert_eq!(pending.await.error().unwrap().brief(), "Tool `add` not found");
    /// # Ok::<(), toolkit::BuildError>(())
    /// # }).unwrap();
    /// ```
    pub fn handle(&self, call: ToolCall) -> PendingResult {
        self.hand_over(call, None)
    }

    /// Like [`handle`](Self::handle), with a handle that stops the call. It still has its result, which says so.
    pub fn handle_with(&self, call: ToolCall, handle: impl Into<BatchHandle>) -> PendingResult {
        self.hand_over(call, Some(handle.into()))
    }

    fn hand_over(&self, call: ToolCall, handle: Option<BatchHandle>) -> PendingResult {
        if Handle::try_current().is_err() {
            let result =
                ToolResult::of(&call, Err(ToolError::failed("there is no tokio runtime to run it on")));
            return PendingResult(Box::pin(ready(result)));
        }
        let mut batch = Batch::new(self, slice::from_ref(&call), handle);
        let (identity, work) = batch.prepare(call);
        let (mut task, finish) = (Task::spawn(work), self.finish.clone());
        PendingResult(Box::pin(async move {
            let result = match task.join().await {
                Ok(ended) => identity.result(ended),
                Err(lost) => identity.lost(lost),
            };
            finish.apply_changes(slice::from_ref(&result));
            result
        }))
    }
}

/// The tools of a dispatcher under its own limits, middleware and state, for another one.
impl ToolProvider for Dispatcher {
    fn tools(&self) -> Vec<ToolDefinition> {
        self.registry().iter_definitions().cloned().collect()
    }

    fn handle<'a>(&'a self, call: ToolCall, context: &'a ToolContext) -> ToolFuture<'a> {
        let pending = self.handle_with(call, context.cancellation_token().child_token());
        ToolFuture::running(pending, |result| result.outcome)
    }
}
