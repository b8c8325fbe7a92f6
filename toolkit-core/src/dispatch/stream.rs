//! The results of a batch in the order in which the calls end.

use crate::result::ToolResult;
use futures_core::Stream;
use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::task::{Id, JoinSet};

/// The results of a batch in the order in which the calls end. Dropping it stops those that still run.
#[derive(Default)]
pub struct ToolResultStream {
    running: JoinSet<ToolResult>,
    /// The results of calls whose task was taken away from us, for instance by the runtime's end.
    fallbacks: HashMap<Id, ToolResult>,
}

impl ToolResultStream {
    pub(super) fn spawn(
        &mut self,
        fallback: ToolResult,
        call: impl Future<Output = ToolResult> + Send + 'static,
    ) {
        let task = self.running.spawn(call);
        self.fallbacks.insert(task.id(), fallback);
    }

    /// How many results are still to come.
    #[must_use]
    pub fn len(&self) -> usize {
        self.running.len()
    }

    /// Whether all results have come.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// The next result; `None` after the last.
    pub async fn next(&mut self) -> Option<ToolResult> {
        poll_fn(|waker| self.poll(waker)).await
    }

    fn poll(&mut self, waker: &mut Context<'_>) -> Poll<Option<ToolResult>> {
        loop {
            match ready!(self.running.poll_join_next_with_id(waker)) {
                None => return Poll::Ready(None),
                Some(Ok((_, result))) => return Poll::Ready(Some(result)),
                Some(Err(lost)) => {
                    if let Some(fallback) = self.fallbacks.remove(&lost.id()) {
                        return Poll::Ready(Some(fallback));
                    }
                }
            }
        }
    }
}

impl Stream for ToolResultStream {
    type Item = ToolResult;

    fn poll_next(mut self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Option<ToolResult>> {
        self.poll(waker)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl fmt::Debug for ToolResultStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolResultStream").field("running", &self.len()).finish()
    }
}
