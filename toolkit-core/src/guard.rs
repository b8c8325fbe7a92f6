//! Panic containment: a panic in a tool or in the program's code becomes the error of the call, and
//! poisons no lock.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

pub(crate) struct PanicText(pub(crate) String);

impl PanicText {
    /// Extracts the message from a panic payload and drops it.
    #[cold]
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = if let Some(text) = payload.downcast_ref::<&str>() {
            (*text).to_owned()
        } else if let Some(text) = payload.downcast_ref::<String>() {
            text.clone()
        } else {
            "no message".to_owned()
        };
        discard(payload);
        Self(text)
    }
}

/// Runs `work` and returns a panic as an error. The panic hook has already reported it.
#[inline]
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, PanicText> {
    catch_unwind(AssertUnwindSafe(work)).map_err(PanicText::new)
}

/// Awaits `future` and returns a panic as an error.
pub(crate) async fn guarded_future<F: Future>(future: F) -> Result<F::Output, PanicText> {
    let mut future = pin!(future);
    poll_fn(|cx| match guarded(|| future.as_mut().poll(cx)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

/// Drops `value` and catches a panic, whose payload is leaked, because dropping it may panic as well.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}

/// Locks a mutex, also after a panic under the lock: each change under our locks is one statement.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
