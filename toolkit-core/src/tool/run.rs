//! Running one call: the panic guard, the time limit, cancellation.

use super::{Tool, ToolFuture};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::output::ToolOutput;
use std::any::Any;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

type Outcome = Result<ToolOutput, ToolError>;

/// Starts one call. Whatever the tool does, there is an outcome: now or when the future is done.
///
/// The limit counts from here. A synchronous tool cannot be stopped: it is done when it returns.
#[inline]
pub(crate) fn start<'a>(
    tool: &'a dyn Tool,
    arguments: &'a str,
    context: &'a ToolContext,
    limit: Option<Duration>,
) -> Result<Outcome, Running<'a>> {
    context.begin(None);
    go_on(tool, arguments, context, limit)
}

/// Like [`start`], for an attempt that the context knows has begun.
#[inline]
pub(crate) fn go_on<'a>(
    tool: &'a dyn Tool,
    arguments: &'a str,
    context: &'a ToolContext,
    limit: Option<Duration>,
) -> Result<Outcome, Running<'a>> {
    if context.is_cancelled() {
        return Ok(Err(ToolError::cancelled(context.known_name())));
    }
    if let Some(teller) = context.teller() {
        teller.started();
    }
    let limit = limit.map(Limit::from_now);
    context.limit_to(limit.and_then(|limit| limit.end));
    match guarded(context, || tool.call(arguments, context)) {
        Ok(call) => call.try_ready().map_err(|call| Running::started(call, context, limit)),
        Err(panicked) => Ok(Err(panicked)),
    }
}

/// A started call that is not done.
pub(crate) struct Running<'a> {
    call: ToolFuture<'a>,
    context: &'a ToolContext,
    limit: Option<Limit>,
    /// Boxed, and made only when the tool waits: most calls end without it.
    stop: Option<Pin<Box<dyn Future<Output = ToolError> + Send + 'a>>>,
}

impl<'a> Running<'a> {
    fn started(call: ToolFuture<'a>, context: &'a ToolContext, limit: Option<Limit>) -> Self {
        Self { call, context, limit, stop: None }
    }

    /// The limit counts from here.
    pub(crate) fn new(call: ToolFuture<'a>, context: &'a ToolContext, limit: Option<Duration>) -> Self {
        Self::started(call, context, limit.map(Limit::from_now))
    }
}

impl Future for Running<'_> {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Outcome> {
        let Self { call, context, limit, stop } = self.get_mut();
        let ended = match guarded(context, || Pin::new(&mut *call).poll(waker)) {
            Ok(Poll::Pending) if limit.is_some() || context.can_be_cancelled() => {
                let stop = stop.get_or_insert_with(|| Box::pin(stopped(context, *limit)));
                // A runtime without a timer panics here.
                match guarded(context, || stop.as_mut().poll(waker)) {
                    Ok(Poll::Pending) => return Poll::Pending,
                    Ok(Poll::Ready(error)) | Err(error) => error,
                }
            }
            Ok(poll) => return poll,
            Err(panicked) => panicked,
        };
        discard(std::mem::replace(call, ToolFuture::spent()));
        Poll::Ready(Err(ended))
    }
}

#[derive(Clone, Copy)]
struct Limit {
    length: Duration,
    /// `None` if the clock does not reach that far.
    end: Option<Instant>,
}

impl Limit {
    fn from_now(length: Duration) -> Self {
        Self { length, end: Instant::now().checked_add(length) }
    }
}

/// Waits until the call is cancelled or its time is over.
async fn stopped(context: &ToolContext, limit: Option<Limit>) -> ToolError {
    let name = context.known_name();
    let mut cancelled = pin!(context.cancelled());
    let mut timed_out = pin!(async {
        match limit {
            Some(Limit { length, end: Some(end) }) => {
                sleep_until(end).await;
                ToolError::timed_out(name, length)
            }
            _ => pending().await,
        }
    });
    poll_fn(|waker| match cancelled.as_mut().poll(waker) {
        Poll::Ready(()) => Poll::Ready(ToolError::cancelled(name)),
        Poll::Pending => timed_out.as_mut().poll(waker),
    })
    .await
}

#[inline]
fn guarded<T>(context: &ToolContext, work: impl FnOnce() -> T) -> Result<T, ToolError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let error = ToolError::panicked(context.known_name(), panic_text(&*payload));
        discard(payload);
        error
    })
}

/// Drops a value of the tool's, which may panic once more. What that panic carries is not touched again.
fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}

/// What a panic said.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
