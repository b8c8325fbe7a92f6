//! Running one call: panic guard, time limit, cancellation.

use super::{Tool, ToolFuture};
use crate::context::{Limit, ToolContext};
use crate::error::ToolError;
use crate::output::ToolOutput;
use std::any::Any;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::sleep_until;

type Outcome = Result<ToolOutput, ToolError>;

/// Starts one call. Whatever the tool does, there is an outcome: now, or from the future.
///
/// The limit counts from here. A synchronous tool cannot be stopped: it ends when it returns.
#[inline]
pub(crate) fn start<'a>(
    tool: &'a dyn Tool,
    arguments: &'a str,
    context: &'a ToolContext,
    limit: Option<Duration>,
) -> Result<Outcome, Running<'a>> {
    context.begin();
    start_attempt(tool, arguments, context, limit)
}

/// Starts an attempt that has begun in the context.
#[inline]
pub(crate) fn start_attempt<'a>(
    tool: &'a dyn Tool,
    arguments: &'a str,
    context: &'a ToolContext,
    limit: Option<Duration>,
) -> Result<Outcome, Running<'a>> {
    if context.is_cancelled() {
        return Ok(Err(ToolError::cancelled(context.known_name())));
    }
    if let Some(emitter) = context.emitter() {
        emitter.started();
    }
    let limit = limit.and_then(Limit::from_now);
    if let Some(limit) = limit {
        context.limit_to(limit);
    }
    match guarded(context, || tool.call(arguments, context)) {
        Ok(call) => call.try_ready().map_err(|call| Running {
            call,
            context,
            is_limited: limit.is_some(),
            stop: None,
        }),
        Err(panicked) => Ok(Err(panicked)),
    }
}

/// The future of the error that stops a call.
type Stop<'a> = Pin<Box<dyn Future<Output = ToolError> + Send + 'a>>;

/// A started call that has not ended.
pub(crate) struct Running<'a> {
    call: ToolFuture<'a>,
    context: &'a ToolContext,
    /// Whether the context's time limit is that of this call.
    is_limited: bool,
    /// Created when the tool first waits: most calls end without it.
    stop: Option<Stop<'a>>,
}

impl<'a> Running<'a> {
    /// Watches over a started call. The limit counts from here.
    pub(crate) fn new(call: ToolFuture<'a>, context: &'a ToolContext, limit: Option<Duration>) -> Self {
        let limit = limit.and_then(Limit::from_now);
        let stop = limit.map(|limit| Box::pin(stopped(context, Some(limit))) as Stop<'a>);
        Self { call, context, is_limited: false, stop }
    }
}

impl Future for Running<'_> {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let Self { call, context, is_limited, stop } = self.get_mut();
        let ended = match guarded(context, || Pin::new(&mut *call).poll(cx)) {
            Ok(Poll::Pending) if stop.is_some() || *is_limited || context.can_be_cancelled() => {
                let limit = || context.limit().filter(|_| *is_limited);
                let stop = stop.get_or_insert_with(|| Box::pin(stopped(context, limit())));
                // A runtime without a timer panics here.
                match guarded(context, || stop.as_mut().poll(cx)) {
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

/// Waits for the cancellation or the end of the time limit.
async fn stopped(context: &ToolContext, limit: Option<Limit>) -> ToolError {
    let name = context.known_name();
    let mut cancelled = pin!(context.cancelled());
    let mut timed_out = pin!(async {
        match limit {
            Some(Limit { length, end }) => {
                sleep_until(end).await;
                ToolError::timed_out(name, length)
            }
            None => pending().await,
        }
    });
    poll_fn(|cx| match cancelled.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(ToolError::cancelled(name)),
        Poll::Pending => timed_out.as_mut().poll(cx),
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

/// Drops a value of the tool, which may panic again. The payload of that panic is leaked, as its drop may panic, too.
fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}

/// Returns the message of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
