//! The future of a started call: ready, or running.

use crate::error::{ErrorKind, ToolError};
use crate::output::Outcome;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project_lite::pin_project! {
    /// A future with the conversion of its output. An `async` block would cost more compile time for each tool.
    struct Converted<F, C> {
        #[pin]
        future: F,
        convert: C,
    }
}

impl<F: Future, C: Fn(F::Output) -> Outcome> Future for Converted<F, C> {
    type Output = Outcome;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let this = self.project();
        match this.future.poll(cx) {
            Poll::Ready(output) => Poll::Ready((this.convert)(output)),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// A started call. A synchronous tool's is ready at once, without an allocation.
pub struct ToolFuture<'a>(State<'a>);

enum State<'a> {
    Done(Option<Outcome>),
    Running(Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>),
}

impl<'a> ToolFuture<'a> {
    /// Creates the future of an ended call.
    #[inline]
    #[must_use]
    pub fn ready(outcome: Outcome) -> Self {
        Self(State::Done(Some(outcome)))
    }

    /// Creates the future of a running call, with the conversion of its output.
    #[inline]
    #[must_use]
    pub fn running<F: Future + Send + 'a>(
        future: F,
        convert: impl Fn(F::Output) -> Outcome + Send + 'a,
    ) -> Self {
        Self(State::Running(Box::pin(Converted { future, convert })))
    }

    /// Creates the failure of a call without its state.
    #[cold]
    #[must_use]
    pub fn stateless(type_name: &str) -> Self {
        let reason = format_args!("the program lends no `{type_name}` to its tools");
        Self::ready(Err(ToolError::failed(reason)))
    }

    /// Creates the failure of a call with refused arguments.
    #[cold]
    #[must_use]
    pub fn refused(error: ToolError) -> Self {
        Self::ready(Err(error))
    }

    /// Creates the failure of a call without a value that decoding ensures.
    #[cold]
    #[must_use]
    pub fn incomplete() -> Self {
        Self::ready(Err(ToolError::new(
            ErrorKind::InvalidArguments,
            "Error validating JSON arguments: incomplete",
        )))
    }

    /// Creates a future that never ends, for an outcome already taken.
    pub(crate) fn spent() -> Self {
        Self(State::Done(None))
    }

    /// Returns the outcome of an ended call.
    ///
    /// # Errors
    /// The running call itself.
    #[inline]
    pub fn try_ready(self) -> Result<Outcome, Self> {
        match self.0 {
            State::Done(Some(outcome)) => Ok(outcome),
            state => Err(Self(state)),
        }
    }
}

impl Future for ToolFuture<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        match &mut self.0 {
            State::Done(outcome) => outcome.take().map_or(Poll::Pending, Poll::Ready),
            State::Running(future) => future.as_mut().poll(cx),
        }
    }
}

impl fmt::Debug for ToolFuture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Done(_) => "ToolFuture(done)",
            State::Running(_) => "ToolFuture(running)",
        })
    }
}
