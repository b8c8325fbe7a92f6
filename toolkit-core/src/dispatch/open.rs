//! A batch whose calls come one after another, while the model still writes.

use super::batch::Batch;
use super::{BatchHandle, Dispatcher, ToolResultStream};
use crate::call::ToolCall;
use crate::result::ToolResult;
use std::fmt;

/// A batch whose calls come one after another: each runs from the moment it is added.
///
/// It is for calls of a response that is still being written. They are one batch like any other: one snapshot of
/// the tools, lanes in the order of the calls, changes of the session at the end. Dropping it stops the calls that
/// still run.
///
/// ```
/// use toolkit::{Dispatcher, ToolCall, ToolRegistry};
/// use toolkit::dispatch::BatchHandle;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let mut batch = Dispatcher::new(ToolRegistry::new())?.open_batch(BatchHandle::new());
/// batch.push(ToolCall::new("call_1", "add", "{}"));
/// batch.push(ToolCall::new("call_2", "add", "{}"));
/// let results = batch.finish().await;
/// assert_eq!(results.len(), 2);
/// # Ok::<(), toolkit::BuildError>(())
/// # }).unwrap();
/// ```
pub struct OpenBatch {
    batch: Batch<'static>,
    running: ToolResultStream,
}

impl Dispatcher {
    /// Begins a batch whose calls come one after another. The handle stops all calls or one.
    #[must_use]
    pub fn open_batch(&self, handle: impl Into<BatchHandle>) -> OpenBatch {
        let batch = Batch::open(self.clone(), Some(handle.into()));
        OpenBatch { batch, running: ToolResultStream::open(self.finish.clone()) }
    }
}

impl OpenBatch {
    /// Starts a call.
    ///
    /// # Panics
    /// Like `tokio::spawn`, if no tokio runtime is running.
    pub fn push(&mut self, call: ToolCall) {
        self.batch.tell(std::slice::from_ref(&call));
        let (identity, run) = self.batch.prepare(call);
        self.running.spawn(identity, run);
    }

    /// How many calls still run.
    #[must_use]
    pub fn len(&self) -> usize {
        self.running.len()
    }

    /// Whether no call runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// The result of the next call that ends; `None` if none runs.
    /// [`ToolResult::position`] says which call it was. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<ToolResult> {
        self.running.next().await
    }

    /// Says that no call is added any more: the session takes over what the calls have changed, when all results were
    /// given.
    pub fn close(&mut self) {
        self.running.close();
    }

    /// Waits for the calls that still run. Their results are in the order of the calls, without those that
    /// [`next`](Self::next) has given already.
    pub async fn finish(mut self) -> Vec<ToolResult> {
        self.close();
        let mut results = Vec::with_capacity(self.running.len());
        while let Some(result) = self.running.next().await {
            results.push(result);
        }
        results.sort_by_key(|result| result.position);
        results
    }
}

impl fmt::Debug for OpenBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenBatch").field("running", &self.len()).finish()
    }
}
