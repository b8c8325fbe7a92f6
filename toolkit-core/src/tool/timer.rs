//! The timer of a batch: one task of the runtime enforces the time limits of all waiting calls.

use foldhash::fast::RandomState;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use tokio::time::{Instant, Sleep, sleep_until};

/// Wakes the waiting calls of a batch at the ends of their time limits.
///
/// A separate timer for each call would cost more than the panic guard and the context of the call together. So the
/// ends of all time limits are in one queue, and one task sleeps until the first end. The task starts when a call
/// with a time limit first waits, and stops when no call waits at the time for which it was set.
#[derive(Default)]
pub(crate) struct Timer(OnceLock<Arc<Waiting>>);

/// The waiting calls, shared with the task.
#[derive(Default)]
struct Waiting(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// The wakers of the waiting calls, by the number of the call.
    calls: HashMap<u64, Waker, RandomState>,
    /// The ends of the time limits with the numbers of the calls, the first end at the top. Also contains calls that
    /// do not wait any more.
    ends: BinaryHeap<Reverse<(Instant, u64)>>,
    /// The number of calls added so far.
    added: u64,
    /// The time until which the task sleeps, and the waker of the task. `None` if there is no task.
    task: Option<(Instant, Waker)>,
}

/// The end of one call's time limit. Dropping the alarm removes the call from the timer.
pub(crate) struct Alarm<'a> {
    timer: &'a Timer,
    end: Instant,
    /// The number of the call in the timer. 0 until the call first waits.
    number: u64,
}

impl Timer {
    /// Returns an alarm for a time limit that ends at `end`.
    pub(crate) fn alarm(&self, end: Instant) -> Alarm<'_> {
        Alarm { timer: self, end, number: 0 }
    }
}

/// Stops the task. No call waits any more, because the alarm of a waiting call borrows the timer.
impl Drop for Timer {
    fn drop(&mut self) {
        let task = self.0.get().and_then(|waiting| waiting.lock().task.take());
        if let Some((_, task)) = task {
            task.wake();
        }
    }
}

impl Alarm<'_> {
    /// Returns whether the time limit has ended. If not, wakes the call at the end.
    ///
    /// # Panics
    /// If the runtime has no timer.
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        let waiting = self.timer.0.get_or_init(Arc::default);
        let mut inner = waiting.lock();
        if self.number == 0 {
            self.number = inner.add(self.end, cx.waker().clone());
        } else {
            match inner.calls.get_mut(&self.number) {
                Some(waker) => waker.clone_from(cx.waker()),
                // The task has removed the call.
                None => return Poll::Ready(()),
            }
        }
        match &mut inner.task {
            Some((until, _)) if *until <= self.end => {}
            Some((until, task)) => {
                *until = self.end;
                let task = task.clone();
                drop(inner);
                task.wake();
            }
            None => {
                let sleep = Box::pin(sleep_until(self.end));
                inner.task = Some((self.end, Waker::noop().clone()));
                // Released first, because a runtime that shuts down drops the task at once.
                drop(inner);
                tokio::spawn(Task { waiting: waiting.clone(), sleep, has_ended: false });
            }
        }
        Poll::Pending
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.timer.0.get().filter(|_| self.number > 0) {
            // A variable, so that the waker is dropped after the lock is released.
            let _waker = waiting.lock().calls.remove(&self.number);
        }
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the first end of a time limit, and registers the task that will sleep until then. Returns `None` and
    /// removes the task if no call waits.
    fn first(&self, cx: &Context<'_>) -> Option<Instant> {
        let mut inner = self.lock();
        let end = inner.first();
        inner.task = end.map(|end| (end, cx.waker().clone()));
        end
    }

    /// Removes the calls whose time limits have ended at `now`, and wakes them.
    fn wake_until(&self, now: Instant) {
        let mut ended = Vec::new();
        let mut inner = self.lock();
        while inner.first().is_some_and(|end| end <= now) {
            let number = inner.ends.pop().map(|Reverse((_, number))| number);
            ended.extend(number.and_then(|number| inner.calls.remove(&number)));
        }
        drop(inner);
        ended.into_iter().for_each(Waker::wake);
    }
}

impl Inner {
    /// Adds a call and returns its number.
    fn add(&mut self, end: Instant, waker: Waker) -> u64 {
        self.added += 1;
        self.calls.insert(self.added, waker);
        self.ends.push(Reverse((end, self.added)));
        // Remove calls that do not wait any more now and then, so that a batch kept open for long does not grow.
        if self.ends.len() > 2 * self.calls.len() + 64 {
            let calls = &self.calls;
            self.ends.retain(|Reverse((_, number))| calls.contains_key(number));
        }
        self.added
    }

    /// Returns the first end of a waiting call.
    fn first(&mut self) -> Option<Instant> {
        loop {
            let Reverse((end, number)) = *self.ends.peek()?;
            if self.calls.contains_key(&number) {
                return Some(end);
            }
            self.ends.pop();
        }
    }
}

/// The task that sleeps until the first end of a time limit.
struct Task {
    waiting: Arc<Waiting>,
    sleep: Pin<Box<Sleep>>,
    /// Whether the task has ended because no call waits.
    has_ended: bool,
}

impl Future for Task {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { waiting, sleep, has_ended } = &mut *self;
        while let Some(end) = waiting.first(cx) {
            if sleep.deadline() != end {
                sleep.as_mut().reset(end);
            }
            ready!(sleep.as_mut().poll(cx));
            waiting.wake_until(end);
        }
        *has_ended = true;
        Poll::Ready(())
    }
}

/// Wakes all waiting calls if a runtime that shuts down drops the task. A call of another runtime then starts the task
/// again.
impl Drop for Task {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let mut inner = self.waiting.lock();
        inner.task = None;
        let wakers: Vec<Waker> = inner.calls.values().cloned().collect();
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::time::Duration;
    use tokio::runtime::Builder;
    use tokio::time::sleep;

    async fn until(timer: &Timer, end: Instant) {
        let mut alarm = timer.alarm(end);
        poll_fn(|cx| alarm.poll(cx)).await;
    }

    fn tasks(timer: &Timer) -> usize {
        timer.0.get().map_or(0, |waiting| Arc::strong_count(waiting) - 1)
    }

    /// Random calls: each begins at its own time with its own limit, and half of them finish before their limit. Each
    /// other call must be woken in the millisecond in which its limit ends.
    #[tokio::test(start_paused = true)]
    async fn each_call_is_woken_at_the_end_of_its_own_limit() {
        let timer = Arc::new(Timer::default());
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut calls = Vec::new();
        for _ in 0..2_000 {
            let (timer, begin, limit) = (timer.clone(), next(3_000), next(500));
            let works = next(2 * limit + 1);
            calls.push(tokio::spawn(async move {
                sleep(Duration::from_millis(begin)).await;
                let end = Instant::now() + Duration::from_millis(limit);
                tokio::select! {
                    biased;
                    () = sleep(Duration::from_millis(works)) => assert!(works <= limit),
                    () = until(&timer, end) => assert!(end.elapsed() <= Duration::from_millis(1)),
                }
            }));
        }
        for call in calls {
            call.await.unwrap();
        }
        sleep(Duration::from_secs(1)).await;
        assert_eq!(tasks(&timer), 0, "the task has ended");
        let inner = timer.0.get().unwrap().lock();
        assert!(inner.calls.is_empty() && inner.ends.is_empty());
    }

    /// Later calls have earlier ends, so the sleeping task must be woken.
    #[tokio::test(start_paused = true)]
    async fn an_earlier_end_may_be_added_later() {
        let (timer, begin) = (Timer::default(), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        let ends = [at(60), at(3), at(1), at(2)];
        let late = async |begin, end| {
            sleep(Duration::from_millis(begin)).await;
            until(&timer, end).await;
            end.elapsed()
        };
        let [a, b, c, d] = ends;
        let (a, b, c, d) = tokio::join!(late(0, a), late(0, b), late(0, c), late(1_500, d));
        assert!([a, b, c, d].iter().all(|late| *late <= Duration::from_millis(1)), "{a:?} {b:?} {c:?} {d:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_finish_in_time_are_forgotten() {
        let (timer, end) = (Timer::default(), Instant::now() + Duration::from_secs(60));
        for _ in 0..10_000 {
            let mut alarm = timer.alarm(end);
            assert!(poll_fn(|cx| Poll::Ready(alarm.poll(cx))).await.is_pending());
        }
        let inner = timer.0.get().unwrap().lock();
        assert!(inner.calls.is_empty() && inner.ends.len() <= 66, "{}", inner.ends.len());
    }

    #[tokio::test(start_paused = true)]
    async fn the_task_ends_with_the_timer() {
        let timer = Timer::default();
        let mut alarm = timer.alarm(Instant::now() + Duration::from_secs(60));
        assert!(poll_fn(|cx| Poll::Ready(alarm.poll(cx))).await.is_pending());
        drop(alarm);
        assert_eq!(tasks(&timer), 1);
        let waiting = Arc::downgrade(timer.0.get().unwrap());
        drop(timer);
        tokio::task::yield_now().await;
        assert_eq!(waiting.strong_count(), 0);
    }

    /// The calls of a batch may have different runtimes. The task of the timer belongs to one of them.
    #[test]
    fn a_call_outlives_the_runtime_of_another_call() {
        let timer = Arc::new(Timer::default());
        let runtime = || Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let (first, second) = (runtime(), runtime());
        let begin = Instant::now();
        let end = begin + Duration::from_millis(200);
        let started = timer.clone();
        drop(first.spawn(async move { until(&started, end).await }));
        while tasks(&timer) == 0 {
            std::thread::yield_now();
        }
        let call = second.spawn({
            let timer = timer.clone();
            async move { until(&timer, end).await }
        });
        first.shutdown_background();
        second
            .block_on(async { tokio::time::timeout(Duration::from_secs(20), call).await })
            .unwrap()
            .unwrap();
        assert!(begin.elapsed() >= Duration::from_millis(200));
    }
}
