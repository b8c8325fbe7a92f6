//! The results of a batch in the order in which the calls end.

use super::batch::{Ended, Identity, Work};
use super::finish::{Changes, Finish};
use crate::result::ToolResult;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::task::{Id, JoinSet};

/// The results of a batch in the order in which the calls end. Dropping it stops those that still run.
pub struct ToolResultStream {
    running: JoinSet<Ended>,
    /// The task of each call, by position, until its result has come.
    waiting: Vec<Option<(Id, Identity)>>,
    changes: Changes,
    /// Whether calls may still be added.
    open: bool,
}

impl ToolResultStream {
    pub(super) fn new(calls: usize, finish: Arc<Finish>) -> Self {
        let waiting = Vec::with_capacity(calls);
        Self { running: JoinSet::new(), waiting, changes: Changes::new(finish), open: false }
    }

    /// The results of a batch to which calls are added, one after another.
    pub(super) fn open(finish: Arc<Finish>) -> Self {
        Self { open: true, ..Self::new(0, finish) }
    }

    /// No call is added any more.
    pub(super) fn close(&mut self) {
        self.open = false;
        if self.running.is_empty() {
            self.changes.apply();
        }
    }

    pub(super) fn spawn(&mut self, identity: Identity, work: Work) {
        let task = self.running.spawn(Box::pin(work.run()));
        self.waiting.push(Some((task.id(), identity)));
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
        while let Some(joined) = ready!(self.running.poll_join_next(waker)) {
            let result = match joined {
                Ok(ended) => self.take(ended.position).map(|identity| identity.result(ended)),
                Err(lost) => self.take_lost(lost.id()).map(|identity| identity.lost(lost)),
            };
            if let Some(result) = result {
                self.changes.add(&result);
                if self.running.is_empty() && !self.open {
                    self.changes.apply();
                }
                return Poll::Ready(Some(result));
            }
        }
        Poll::Ready(None)
    }

    fn take(&mut self, position: usize) -> Option<Identity> {
        self.waiting.get_mut(position)?.take().map(|(_, identity)| identity)
    }

    #[cold]
    fn take_lost(&mut self, lost: Id) -> Option<Identity> {
        let is_lost = |waiting: &Option<(Id, Identity)>| waiting.as_ref().is_some_and(|(id, _)| *id == lost);
        self.take(self.waiting.iter().position(is_lost)?)
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
