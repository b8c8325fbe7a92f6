//! The run of one call: panic guard, time limit, cancellation.

use super::{Tool, ToolFuture};
use crate::context::{Limit, ToolContext};
use crate::error::ToolError;
use crate::guard::{PanicText, discard, guarded};
use crate::output::Outcome;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::task::unconstrained;
use tokio::time::sleep_until;

/// Starts one call. Returns `Ok` with the outcome if the call ends at once, and `Err` with the running call
/// otherwise.
///
/// A panic, a timeout or a cancellation becomes an error outcome.
///
/// The time limit starts now. A synchronous tool cannot be stopped before it returns. Before another attempt
/// of the same call, the caller must call [`ToolContext::begin`].
#[inline]
pub(crate) fn start<'a>(
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
    match guarded(|| tool.call(arguments, context)) {
        Ok(call) => call.try_ready().map_err(|call| Running {
            call,
            context,
            is_limited: limit.is_some(),
            stop: None,
        }),
        Err(panicked) => Ok(Err(panicked.of_call(context))),
    }
}

/// A future that ends with the call's error when the call is cancelled or exceeds its time limit.
type Stop<'a> = Pin<Box<dyn Future<Output = ToolError> + Send + 'a>>;

/// The future of a started call, with panic guard, time limit and cancellation.
pub(crate) struct Running<'a> {
    call: ToolFuture<'a>,
    context: &'a ToolContext,
    /// Whether the time limit is stored in `context`, so that `stop` can be created later.
    is_limited: bool,
    /// The future for stopping the call. Created when the tool first waits, because most calls end without
    /// waiting.
    stop: Option<Stop<'a>>,
}

impl<'a> Running<'a> {
    /// Wraps the future of a started call. The time limit `limit` starts now.
    pub(crate) fn new(call: ToolFuture<'a>, context: &'a ToolContext, limit: Option<Duration>) -> Self {
        let limit = limit.and_then(Limit::from_now);
        let stop = limit.map(|limit| stop(context, Some(limit)));
        Self { call, context, is_limited: false, stop }
    }

    /// Polls the future for stopping the call, after the tool has returned `Pending`.
    #[inline(never)]
    fn poll_stop(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        let Self { context, is_limited, stop, .. } = self;
        if stop.is_none() && !*is_limited && !context.can_be_cancelled() {
            return Poll::Pending;
        }
        let limit = || context.limit().filter(|_| *is_limited);
        let stop = stop.get_or_insert_with(|| self::stop(context, limit()));
        // In a runtime without a timer, polling panics.
        let error = match guarded(|| stop.as_mut().poll(cx)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(error)) => error,
            Err(panicked) => panicked.of_call(context),
        };
        self.discard_call();
        Poll::Ready(Err(error))
    }

    /// Drops the tool's future and catches a panic of its destructor.
    fn discard_call(&mut self) {
        discard(std::mem::replace(&mut self.call, ToolFuture::spent()));
    }
}

impl Future for Running<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let ended = match guarded(|| Pin::new(&mut self.call).poll(cx)) {
            Ok(Poll::Ready(outcome)) => outcome,
            Ok(Poll::Pending) => return self.poll_stop(cx),
            Err(panicked) => Err(panicked.of_call(self.context)),
        };
        self.discard_call();
        Poll::Ready(ended)
    }
}

/// Drops the future of a call that has not ended.
impl Drop for Running<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.call.is_spent() {
            self.discard_call();
        }
    }
}

/// Returns the future for stopping the call. A timer without budget is never ready, and the tool may have used up
/// the budget of the task, so this future is exempt from the budget.
fn stop(context: &ToolContext, limit: Option<Limit>) -> Stop<'_> {
    Box::pin(unconstrained(stopped(context, limit)))
}

/// Waits for the cancellation or the end of the time limit, and returns the error of the call.
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

impl PanicText {
    /// Converts the message of a panic to the error of the call.
    #[cold]
    pub(crate) fn of_call(self, context: &ToolContext) -> ToolError {
        ToolError::panicked(context.known_name(), &self.0)
    }
}
