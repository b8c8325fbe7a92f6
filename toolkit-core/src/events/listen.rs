//! Streams of events that report gaps.

use super::ToolEvent;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::ReusableBoxFuture;

/// The number of events missed because a stream was read too slowly.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Lagged(pub u64);

impl fmt::Debug for Lagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Lagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} events were missed", self.0)
    }
}

impl std::error::Error for Lagged {}

/// A stream of events from the subscription to the end of the last sender.
///
/// A slow reader can [miss](Lagged) events.
pub struct EventReceiver<T>(ReusableBoxFuture<'static, (Result<T, RecvError>, Receiver<T>)>);

/// The events of a [dispatcher](crate::Dispatcher::events) and its clones.
pub type ToolEvents = EventReceiver<ToolEvent>;

impl<T: Clone + Send + 'static> EventReceiver<T> {
    /// Creates a stream.
    #[doc(hidden)]
    #[must_use]
    pub fn new(receiver: Receiver<T>) -> Self {
        Self(ReusableBoxFuture::new(receive(receiver)))
    }

    /// Returns the next event, the number of missed events, or `None` after the last event.
    pub async fn next(&mut self) -> Option<Result<T, Lagged>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl<T: Clone + Send + 'static> Stream for EventReceiver<T> {
    type Item = Result<T, Lagged>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let (received, receiver) = ready!(self.0.poll(cx));
        self.0.set(receive(receiver));
        Poll::Ready(match received {
            Ok(event) => Some(Ok(event)),
            Err(RecvError::Lagged(missed)) => Some(Err(Lagged(missed))),
            Err(RecvError::Closed) => None,
        })
    }
}

impl<T> fmt::Debug for EventReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventReceiver")
    }
}

async fn receive<T: Clone>(mut receiver: Receiver<T>) -> (Result<T, RecvError>, Receiver<T>) {
    let received = receiver.recv().await;
    (received, receiver)
}
