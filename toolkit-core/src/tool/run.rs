//! Running one call: the panic guard, the time limit, cancellation.

use super::{Tool, ToolFuture};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::output::ToolOutput;
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

type Outcome = Result<ToolOutput, ToolError>;

/// Runs one call to its end. Whatever the tool does, there is an outcome.
///
/// The limit counts from here. A synchronous tool cannot be stopped: it is done when it returns.
pub(crate) async fn run(
    tool: &dyn Tool,
    arguments: &str,
    context: &ToolContext,
    limit: Option<Duration>,
) -> Outcome {
    if context.is_cancelled() {
        return Err(ToolError::cancelled(context.tool_name().as_str()));
    }
    let started = guarded(context, || tool.call(arguments, context));
    match started.map(ToolFuture::try_ready) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(running)) => finish(running, context, limit).await,
        Err(panicked) => Err(panicked),
    }
}

async fn finish(mut running: ToolFuture<'_>, context: &ToolContext, limit: Option<Duration>) -> Outcome {
    let mut step =
        poll_fn(|waker: &mut Context<'_>| match guarded(context, || Pin::new(&mut running).poll(waker)) {
            Ok(poll) => poll,
            Err(panicked) => Poll::Ready(Err(panicked)),
        });
    if limit.is_none() && !context.can_be_cancelled() {
        return step.await;
    }
    let name = context.tool_name().as_str();
    let mut deadline = pin!(async {
        match limit {
            Some(limit) => {
                tokio::time::sleep(limit).await;
                ToolError::timed_out(name, limit)
            }
            None => std::future::pending().await,
        }
    });
    let mut cancelled = pin!(context.cancelled());
    poll_fn(|waker| {
        if let Poll::Ready(outcome) = Pin::new(&mut step).poll(waker) {
            return Poll::Ready(outcome);
        }
        if cancelled.as_mut().poll(waker).is_ready() {
            return Poll::Ready(Err(ToolError::cancelled(name)));
        }
        deadline.as_mut().poll(waker).map(Err)
    })
    .await
}

#[inline]
fn guarded<T>(context: &ToolContext, work: impl FnOnce() -> T) -> Result<T, ToolError> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|payload| ToolError::panicked(context.tool_name().as_str(), panic_text(&*payload)))
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
