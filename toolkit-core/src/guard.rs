//! Panic containment: a panic in the code of a tool or of the program must not cost a call its result.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The message of a caught panic.
pub(crate) struct PanicText(pub(crate) String);

impl PanicText {
    /// Takes the message out of the payload, and discards the payload.
    #[cold]
    pub(crate) fn of(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no message").to_owned();
        discard(payload);
        Self(text)
    }
}

/// Runs foreign code and catches its panic. The panic hook has reported it.
#[inline]
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, PanicText> {
    catch_unwind(AssertUnwindSafe(work)).map_err(PanicText::of)
}

/// Awaits a foreign future and catches its panics.
pub(crate) async fn guarded_future<F: Future>(future: F) -> Result<F::Output, PanicText> {
    let mut future = pin!(future);
    poll_fn(|cx| match guarded(|| future.as_mut().poll(cx)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

/// Drops a foreign value, which may panic. The payload of that panic is leaked, as its drop may panic, too.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}
