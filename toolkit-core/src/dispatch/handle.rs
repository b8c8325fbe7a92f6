//! Stopping calls that run.

use crate::call::CallId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Stops the calls of a batch, all or one. Each still has its result, which says that it was cancelled.
///
/// Make one for each batch, and keep a clone. A [`CancellationToken`] of the program's own becomes a
/// handle, too.
///
/// ```
/// use toolkit::{ClosureTool, Dispatcher, ErrorKind, ToolCall, ToolRegistry};
/// use toolkit::dispatch::BatchHandle;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let forever = ClosureTool::new("wait", "Waits.", |_: Nothing| std::future::pending::<()>())?;
/// let dispatcher = Dispatcher::new(ToolRegistry::from_tools([forever])?)?;
/// let handle = BatchHandle::new();
/// let batch = dispatcher.dispatch_with([ToolCall::new("call_1", "wait", "{}")], handle.clone());
/// handle.cancel_call("call_1");
/// assert_eq!(batch.await[0].error().map(|error| error.kind()), Some(ErrorKind::Cancelled));
/// # Ok::<(), toolkit::BuildError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Default)]
pub struct BatchHandle {
    all: CancellationToken,
    /// Made when a call is first named, by the dispatcher or by who cancels it.
    one: Arc<Mutex<HashMap<CallId, CancellationToken>>>,
}

impl BatchHandle {
    /// The handle of a batch that is not dispatched yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops all calls, also those that have not begun.
    pub fn cancel(&self) {
        self.all.cancel();
    }

    /// Stops the calls of this id, also if they have not begun.
    pub fn cancel_call(&self, id: impl Into<CallId>) {
        self.token(&id.into()).cancel();
    }

    /// Whether all calls were stopped.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.all.is_cancelled()
    }

    /// What stops the calls of this id.
    pub(super) fn token(&self, id: &CallId) -> CancellationToken {
        let mut one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        one.entry(id.clone()).or_insert_with(|| self.all.child_token()).clone()
    }
}

impl From<CancellationToken> for BatchHandle {
    fn from(all: CancellationToken) -> Self {
        Self { all, one: Arc::default() }
    }
}
