//! The future of a started call: ready or running.

use crate::error::{ErrorKind, ToolError};
use crate::output::Outcome;
use futures_core::future::BoxFuture;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project_lite::pin_project! {
    /// A future with a conversion of its output. An `async` block would cost more compile time for each
    /// tool.
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

/// The future of a started call. A synchronous tool returns a ready one, without an allocation.
///
/// ```
/// use toolkit_ai::{ToolFuture, ToolOutput};
///
/// /// What a synchronous tool returns.
/// fn at_once<'a>() -> ToolFuture<'a> {
///     ToolFuture::ready(Ok(ToolOutput::text("done")))
/// }
///
/// /// What an asynchronous tool returns.
/// fn later<'a>() -> ToolFuture<'a> {
///     ToolFuture::new(async { Ok(ToolOutput::text("done later")) })
/// }
///
/// assert_eq!(at_once().try_ready().unwrap()?.to_text(), "done");
/// assert!(later().try_ready().is_err());
/// # Ok::<(), toolkit_ai::ToolError>(())
/// ```
pub struct ToolFuture<'a>(Call<'a>);

enum Call<'a> {
    Done(Option<Outcome>),
    Running(BoxFuture<'a, Outcome>),
}

impl<'a> ToolFuture<'a> {
    /// Creates the ready future of an ended call.
    #[inline]
    #[must_use]
    pub fn ready(outcome: Outcome) -> Self {
        Self(Call::Done(Some(outcome)))
    }

    /// Creates the future of a running call.
    #[inline]
    #[must_use]
    pub fn new(future: impl Future<Output = Outcome> + Send + 'a) -> Self {
        Self(Call::Running(Box::pin(future)))
    }

    /// Creates the future of a running call, for generated code. `convert` makes the outcome.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn running<F: Future + Send + 'a>(
        future: F,
        convert: impl Fn(F::Output) -> Outcome + Send + 'a,
    ) -> Self {
        Self(Call::Running(Box::pin(Converted { future, convert })))
    }

    /// Creates the future of a call that fails without state of type `type_name`.
    #[cold]
    #[doc(hidden)]
    #[must_use]
    pub fn stateless(type_name: &str) -> Self {
        Self::ready(Err(ToolError::stateless(type_name)))
    }

    /// Creates the future of a call with refused arguments.
    #[cold]
    #[doc(hidden)]
    #[must_use]
    pub fn refused(error: ToolError) -> Self {
        Self::ready(Err(error))
    }

    /// Creates the future of a call with a parameter without a value after decoding, instead of a panic in
    /// generated code.
    #[cold]
    #[doc(hidden)]
    #[must_use]
    pub fn incomplete() -> Self {
        Self::ready(Err(ToolError::new(
            ErrorKind::InvalidArguments,
            "Error validating JSON arguments: incomplete",
        )))
    }

    /// Returns the outcome of an ended call, or else the future. It is `None` if it has already returned
    /// its outcome.
    #[inline]
    pub(crate) fn into_boxed(self) -> Result<Outcome, Option<BoxFuture<'a, Outcome>>> {
        match self.0 {
            Call::Done(outcome) => outcome.ok_or(None),
            Call::Running(call) => Err(Some(call)),
        }
    }

    /// Returns the outcome of an ended call.
    ///
    /// # Errors
    /// The future itself, if the call is still running.
    #[inline]
    pub fn try_ready(self) -> Result<Outcome, Self> {
        match self.0 {
            Call::Done(Some(outcome)) => Ok(outcome),
            state => Err(Self(state)),
        }
    }
}

impl Future for ToolFuture<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        match &mut self.0 {
            Call::Done(outcome) => outcome.take().map_or(Poll::Pending, Poll::Ready),
            Call::Running(future) => future.as_mut().poll(cx),
        }
    }
}

impl fmt::Debug for ToolFuture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Call::Done(_) => "ToolFuture(done)",
            Call::Running(_) => "ToolFuture(running)",
        })
    }
}
