//! What a started call is: done already, or running.

use crate::error::{ErrorKind, ToolError};
use crate::output::ToolOutput;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

type Outcome = Result<ToolOutput, ToolError>;

/// A started call. That of a synchronous tool is done when it is made, and needs no allocation.
pub struct ToolFuture<'a>(State<'a>);

enum State<'a> {
    Done(Option<Outcome>),
    Running(Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>),
}

impl<'a> ToolFuture<'a> {
    /// A call that is done.
    #[inline]
    #[must_use]
    pub fn ready(outcome: Outcome) -> Self {
        Self(State::Done(Some(outcome)))
    }

    /// A call that runs, and what is made of its output.
    #[inline]
    #[must_use]
    pub fn running<F>(future: F, convert: impl FnOnce(F::Output) -> Outcome + Send + 'a) -> Self
    where
        F: Future + Send + 'a,
    {
        Self(State::Running(Box::pin(async move { convert(future.await) })))
    }

    /// A call that cannot be made because the program lends no value of this type.
    #[cold]
    #[must_use]
    pub fn stateless(type_name: &str) -> Self {
        let reason = format_args!("the program lends no `{type_name}` to its tools");
        Self::ready(Err(ToolError::failed(reason)))
    }

    /// A call that generated code could not make: its arguments were refused, or a slot stayed empty,
    /// which a successful decode rules out.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn refused(decoded: Result<(), ToolError>) -> Self {
        match decoded {
            Err(error) => Self::ready(Err(error)),
            Ok(()) => Self::incomplete(),
        }
    }

    /// A call for which something is missing that is always there.
    #[cold]
    #[must_use]
    pub fn incomplete() -> Self {
        Self::ready(Err(ToolError::new(
            ErrorKind::InvalidArguments,
            "Error validating JSON arguments: incomplete",
        )))
    }

    /// A call whose outcome was taken.
    pub(crate) fn spent() -> Self {
        Self(State::Done(None))
    }

    /// The outcome if the call is done, else the call.
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

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        match &mut self.0 {
            State::Done(outcome) => outcome.take().map_or(Poll::Pending, Poll::Ready),
            State::Running(future) => future.as_mut().poll(context),
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
