//! The run of one call: panic guard, time limit, cancellation.

use super::{Tool, ToolFuture};
use crate::context::{Limit, ToolContext};
use crate::error::ToolError;
use crate::guard::{PanicText, discard, guarded};
use crate::output::Outcome;
use futures_core::future::BoxFuture;
use pin_project_lite::pin_project;
use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::task::{Unconstrained, unconstrained};
use tokio::time::{Sleep, sleep_until};
use tokio_util::sync::WaitForCancellationFuture;

/// Runs one call. A panic, a timeout or a cancellation becomes an error.
///
/// The time limit starts with the first poll. A synchronous tool cannot be stopped. Before another attempt,
/// the caller must call [`ToolContext::begin`].
#[inline]
pub(crate) async fn run(
    tool: &dyn Tool,
    arguments: &str,
    context: &ToolContext,
    limit: Option<Duration>,
) -> Outcome {
    if !context.may_begin() {
        return Err(ToolError::cancelled(context.known_name()));
    }
    if let Some(emitter) = context.emitter() {
        let normal_arguments = if emitter.includes_contents() { normal_form(tool, arguments) } else { None };
        emitter.started(normal_arguments);
    }
    let limit = limit.and_then(Limit::from_now);
    if let Some(limit) = limit {
        context.limit_to(limit);
    }
    match guarded(|| begin(tool, arguments, context)) {
        Ok(call) => match call.into_boxed() {
            Ok(outcome) => outcome,
            Err(call) => GuardedFuture::until(call, context, limit).await,
        },
        Err(panicked) => Err(panicked.of_call(context)),
    }
}

/// Returns the normal form of valid arguments, for listeners.
#[cold]
fn normal_form(tool: &dyn Tool, arguments: &str) -> Option<Arc<str>> {
    let normal = guarded(|| tool.definition().normal_arguments(arguments, None).ok()).ok()??;
    Some(normal.into())
}

/// Begins a call by the tool's contract: a tool that does not read its arguments itself gets their normal
/// form.
#[inline]
pub(crate) fn begin<'a>(tool: &'a dyn Tool, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
    let definition = tool.definition();
    if definition.reads_arguments {
        return tool.call(arguments, context);
    }
    match definition.normal_arguments(arguments, Some(context)) {
        Ok(Cow::Borrowed(normal)) => tool.call(normal, context),
        Ok(Cow::Owned(normal)) if normal == arguments => tool.call(arguments, context),
        Ok(Cow::Owned(normal)) => {
            let call = async move { tool.call(&normal, context).await };
            ToolFuture::new(call)
        }
        Err(error) => ToolFuture::refused(error),
    }
}

pub(crate) fn check(tool: &dyn Tool, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
    let definition = tool.definition();
    if definition.reads_arguments {
        return tool.validate(arguments, context);
    }
    tool.validate(&definition.normal_arguments(arguments, None)?, context)
}

pin_project! {
    /// A started call's future, with panic guard, time limit and cancellation.
    ///
    /// The timer and the cancellation's future are created when the tool first waits: most calls never do.
    #[project = GuardedParts]
    pub(crate) struct GuardedFuture<'a> {
        call: Option<BoxFuture<'a, Outcome>>,
        context: &'a ToolContext,
        limit: Option<Limit>,
        #[pin]
        timer: Option<Unconstrained<Sleep>>,
        cancelled: Option<Unconstrained<Pin<Box<WaitForCancellationFuture<'a>>>>>,
    }

    impl PinnedDrop for GuardedFuture<'_> {
        fn drop(this: Pin<&mut Self>) {
            if this.call.is_some() {
                this.project().discard_call();
            }
        }
    }
}

impl<'a> GuardedFuture<'a> {
    /// Guards the future of a call. The time limit starts now.
    pub(crate) fn new(
        call: BoxFuture<'a, Outcome>,
        context: &'a ToolContext,
        limit: Option<Duration>,
    ) -> Self {
        Self::until(Some(call), context, limit.and_then(Limit::from_now))
    }

    #[inline]
    fn until(call: Option<BoxFuture<'a, Outcome>>, context: &'a ToolContext, limit: Option<Limit>) -> Self {
        Self { call, context, limit, timer: None, cancelled: None }
    }
}

impl<'a> GuardedParts<'_, 'a> {
    /// Polls for a cancellation and the end of the time limit, after `Pending` from the tool. Returns the
    /// error of a call to stop.
    ///
    /// Both are exempt from the task's budget, which the tool may have used up: without it, neither would
    /// ever be ready.
    #[inline(never)]
    fn poll_stop(&mut self, cx: &mut Context<'_>) -> Poll<ToolError> {
        let name = self.context.known_name();
        if let Some(token) = self.context.cancellation() {
            let cancelled = self.cancelled.get_or_insert_with(|| unconstrained(Box::pin(token.cancelled())));
            if Pin::new(cancelled).poll(cx).is_ready() {
                return Poll::Ready(ToolError::cancelled(name));
            }
        }
        let Some(Limit { length, end }) = *self.limit else { return Poll::Pending };
        if self.timer.is_none() {
            self.timer.set(Some(unconstrained(sleep_until(end))));
        }
        match self.timer.as_mut().as_pin_mut() {
            Some(timer) => timer.poll(cx).map(|()| ToolError::timed_out(name, length)),
            None => Poll::Pending,
        }
    }

    /// Drops the tool's future and catches a panic of its destructor.
    fn discard_call(&mut self) {
        discard(self.call.take());
    }
}

impl Future for GuardedFuture<'_> {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let mut this = self.project();
        let polled = match this.call {
            Some(call) => guarded(|| call.as_mut().poll(cx)),
            None => Ok(Poll::Pending),
        };
        let ended = match polled {
            Ok(Poll::Ready(outcome)) => outcome,
            // Without a timer in the runtime, polling panics.
            Ok(Poll::Pending) => match guarded(|| this.poll_stop(cx)) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(error)) => Err(error),
                Err(panicked) => Err(panicked.of_call(this.context)),
            },
            Err(panicked) => Err(panicked.of_call(this.context)),
        };
        this.discard_call();
        Poll::Ready(ended)
    }
}

impl PanicText {
    /// Converts a panic to the error of the call.
    #[cold]
    pub(crate) fn of_call(self, context: &ToolContext) -> ToolError {
        ToolError::panicked(context.known_name(), &self.0)
    }
}
