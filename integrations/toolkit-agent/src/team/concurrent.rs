//! Futures that run concurrently in one task.

use crate::helpers::{BoxFuture, lock};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Futures that run concurrently in the task that waits for them, and are dropped together.
pub(super) struct Concurrent<'a, T> {
    /// `None` for futures that have ended.
    futures: Vec<Option<Running<'a, T>>>,
    left: usize,
    /// The ended futures to be returned.
    ended: VecDeque<EndedFuture<T>>,
    queue: Arc<Mutex<Queue>>,
}

type Running<'a, T> = (usize, BoxFuture<'a, T>, Arc<Signal>);

/// The number of a future, and its output unless it has panicked.
type EndedFuture<T> = (usize, Option<T>);

/// The futures to poll, and the task to wake.
#[derive(Default)]
struct Queue {
    ready: VecDeque<usize>,
    task: Option<Waker>,
}

/// Queues a future to be polled again, and wakes the task.
struct Signal {
    index: usize,
    is_queued: AtomicBool,
    queue: Arc<Mutex<Queue>>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        if self.is_queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut queue = lock(&self.queue);
        queue.ready.push_back(self.index);
        let task = queue.task.take();
        drop(queue);
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl<'a, T> Concurrent<'a, T> {
    /// Begins numbered futures.
    pub(super) fn new(futures: impl Iterator<Item = (usize, BoxFuture<'a, T>)>) -> Self {
        let queue = Arc::<Mutex<Queue>>::default();
        let mut running = Vec::with_capacity(futures.size_hint().0);
        for (index, (number, future)) in futures.enumerate() {
            let signal = Signal { index, is_queued: AtomicBool::new(true), queue: queue.clone() };
            running.push(Some((number, future, Arc::new(signal))));
        }
        let left = running.len();
        lock(&queue).ready.extend(0..left);
        Self { futures: running, left, ended: VecDeque::new(), queue }
    }

    /// Waits for the next future that ends, and returns its number, and its output unless it has panicked.
    /// `None` if no future is left.
    pub(super) async fn next(&mut self) -> Option<EndedFuture<T>> {
        match self.ended.pop_front() {
            Some(ended) => Some(ended),
            None => poll_fn(|cx| self.poll_next(cx)).await,
        }
    }

    /// Waits for `other` while the futures run on, because it may wait for something that one of them
    /// holds.
    pub(super) async fn alongside<O>(&mut self, other: impl Future<Output = O>) -> O {
        let mut other = pin!(other);
        poll_fn(|cx| {
            while let Poll::Ready(Some(ended)) = self.poll_next(cx) {
                self.ended.push_back(ended);
            }
            other.as_mut().poll(cx)
        })
        .await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<EndedFuture<T>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let mut queue = lock(&self.queue);
        // Set before a future is polled, so that a wake afterwards wakes this task.
        queue.task = Some(cx.waker().clone());
        let queued = queue.ready.len();
        drop(queue);
        // A future that is queued again waits for the next poll.
        for _ in 0..queued {
            let next = lock(&self.queue).ready.pop_front();
            let Some(place) = next.and_then(|index| self.futures.get_mut(index)) else { continue };
            let Some((number, future, signal)) = place else { continue };
            signal.is_queued.swap(false, Ordering::AcqRel);
            let waker = Waker::from(signal.clone());
            let mut context = Context::from_waker(&waker);
            let output = match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context))) {
                Ok(Poll::Pending) => continue,
                Ok(Poll::Ready(output)) => Some(output),
                Err(_) => None,
            };
            let ended = (*number, output);
            *place = None;
            self.left -= 1;
            return Poll::Ready(Some(ended));
        }
        let ready = &mut lock(&self.queue).ready;
        if ready.len() > 1 {
            // All futures share the task's budget, so each of them has its turn to be first.
            ready.rotate_left(1);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;
    use tokio::time::sleep;

    /// Futures that often wait end in the order of their times, and are polled only when woken.
    #[tokio::test(start_paused = true)]
    async fn only_futures_that_were_woken_are_polled() {
        let polls: Vec<AtomicUsize> = (0..50).map(|_| AtomicUsize::new(0)).collect();
        let futures = polls.iter().enumerate().map(|(number, polls)| {
            let mut work = Box::pin(async move {
                for step in 0..10 {
                    sleep(Duration::from_millis(1 + (7 * number as u64 + step) % 50)).await;
                }
                assert_ne!(number, 7, "panics");
                number
            });
            let counted = poll_fn(move |cx| {
                polls.fetch_add(1, Ordering::Relaxed);
                work.as_mut().poll(cx)
            });
            let future: BoxFuture<'_, usize> = Box::pin(counted);
            (number, future)
        });
        let mut running = Concurrent::new(futures);
        let mut ended = Vec::new();
        while let Some((number, output)) = running.next().await {
            assert_eq!(output, (number != 7).then_some(number));
            ended.push(number);
        }
        ended.sort_unstable();
        assert_eq!(ended, (0..50).collect::<Vec<_>>());
        assert!(polls.iter().all(|polls| polls.load(Ordering::Relaxed) <= 11), "{polls:?}");
    }

    #[tokio::test]
    async fn futures_run_on_while_another_waits_for_them() {
        let lock = tokio::sync::Mutex::new(0);
        let hold = |number: usize| -> (usize, BoxFuture<'_, usize>) {
            let held = async {
                let mut count = lock.lock().await;
                tokio::task::yield_now().await;
                *count += 1;
                *count
            };
            (number, Box::pin(held))
        };
        let mut running = Concurrent::new((0..3).map(hold));
        assert_eq!(running.next().await, Some((0, Some(1))));
        // The lock is handed to the second future, which must be polled to release it.
        assert_eq!(running.alongside(async { *lock.lock().await }).await, 3);
        assert_eq!([running.next().await, running.next().await], [Some((1, Some(2))), Some((2, Some(3)))]);
        assert_eq!(running.next().await, None);
    }

    /// A future that is always ready leaves others their turn, although all share one budget of the
    /// runtime.
    #[tokio::test]
    async fn a_busy_future_lets_others_run() {
        let busy: BoxFuture<'_, ()> = Box::pin(async {
            loop {
                tokio::task::coop::consume_budget().await;
            }
        });
        let other: BoxFuture<'_, ()> = Box::pin(async {
            for _ in 0..1_000 {
                tokio::task::coop::consume_budget().await;
            }
        });
        let mut running = Concurrent::new([(0, busy), (1, other)].into_iter());
        assert_eq!(running.next().await, Some((1, Some(()))));
    }
}
