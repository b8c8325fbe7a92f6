//! The results of a batch, stored by its calls and taken by the batch.

use super::sync::{Mutex, MutexGuard};
use crate::result::ToolResult;
use std::collections::VecDeque;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

#[derive(Default)]
pub(super) struct Results(Mutex<FinishedResults>);

#[derive(Default)]
struct FinishedResults {
    ready: VecDeque<ToolResult>,
    ended: usize,
    /// The number of ended calls at which the batch is woken, and its waker.
    waiting: Option<(usize, Waker)>,
}

impl Results {
    pub(super) fn put(&self, result: ToolResult) {
        let mut inner = self.lock();
        inner.ready.push_back(result);
        inner.ended += 1;
        let ended = inner.ended;
        let waiting = inner.waiting.take_if(|(wanted, _)| *wanted <= ended);
        drop(inner);
        if let Some((_, waker)) = waiting {
            waker.wake();
        }
    }

    /// Takes the next result in the order of completion, or `None` after the last of `pushed` calls.
    pub(super) fn poll_next(&self, pushed: usize, cx: &mut Context<'_>) -> Poll<Option<ToolResult>> {
        let mut inner = self.lock();
        if let Some(result) = inner.ready.pop_front() {
            return Poll::Ready(Some(result));
        }
        let wanted = inner.ended + 1;
        if wanted > pushed { Poll::Ready(None) } else { inner.wait(wanted, cx) }
    }

    /// Takes all remaining results in the order of the calls, once all `pushed` calls have ended.
    ///
    /// The batch is woken only once.
    pub(super) fn poll_rest(&self, pushed: usize, cx: &mut Context<'_>) -> Poll<Vec<ToolResult>> {
        let mut inner = self.lock();
        if inner.ended < pushed {
            let missing = pushed - inner.ended;
            inner.ready.reserve(missing);
            return inner.wait(pushed, cx);
        }
        let mut rest = Vec::from(std::mem::take(&mut inner.ready));
        rest.sort_unstable_by_key(|result| result.position);
        Poll::Ready(rest)
    }

    fn lock(&self) -> MutexGuard<'_, FinishedResults> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FinishedResults {
    fn wait<T>(&mut self, wanted: usize, cx: &Context<'_>) -> Poll<T> {
        self.waiting = Some((wanted, cx.waker().clone()));
        Poll::Pending
    }
}
