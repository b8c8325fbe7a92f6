//! Streams of what happens, which say so when something was missed.

use super::ToolEvent;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::ReusableBoxFuture;

/// A listener was too slow: so many events were dropped before it came to them. What follows is complete again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lagged(pub u64);

impl fmt::Display for Lagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} events were missed", self.0)
    }
}

impl std::error::Error for Lagged {}

/// What comes out of a broadcast channel.
pub(crate) struct Listening<T>(ReusableBoxFuture<'static, (Result<T, RecvError>, Receiver<T>)>);

impl<T: Clone + Send + 'static> Listening<T> {
    pub(crate) fn new(receiver: Receiver<T>) -> Self {
        Self(ReusableBoxFuture::new(receive(receiver)))
    }

    pub(crate) fn poll(&mut self, waker: &mut Context<'_>) -> Poll<Option<Result<T, Lagged>>> {
        let (received, receiver) = ready!(self.0.poll(waker));
        self.0.set(receive(receiver));
        Poll::Ready(match received {
            Ok(event) => Some(Ok(event)),
            Err(RecvError::Lagged(missed)) => Some(Err(Lagged(missed))),
            Err(RecvError::Closed) => None,
        })
    }
}

async fn receive<T: Clone>(mut receiver: Receiver<T>) -> (Result<T, RecvError>, Receiver<T>) {
    let received = receiver.recv().await;
    (received, receiver)
}

/// What happens to the calls of a [dispatcher](crate::Dispatcher::events) and its clones, from the subscription on.
/// It ends when all of them are gone.
pub struct ToolEvents(Listening<ToolEvent>);

impl ToolEvents {
    pub(super) fn new(receiver: Receiver<ToolEvent>) -> Self {
        Self(Listening::new(receiver))
    }

    /// The next event, or how many were missed; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<ToolEvent, Lagged>> {
        poll_fn(|waker| self.0.poll(waker)).await
    }
}

impl Stream for ToolEvents {
    type Item = Result<ToolEvent, Lagged>;

    fn poll_next(mut self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll(waker)
    }
}

impl fmt::Debug for ToolEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolEvents")
    }
}
