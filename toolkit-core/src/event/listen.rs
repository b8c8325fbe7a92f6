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

/// A gap in a stream of events: the number of events missed because the stream was read too slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lagged(pub u64);

impl fmt::Display for Lagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} events were missed", self.0)
    }
}

impl std::error::Error for Lagged {}

/// A stream of the messages of a broadcast channel.
pub(crate) struct EventReceiver<T>(ReusableBoxFuture<'static, (Result<T, RecvError>, Receiver<T>)>);

impl<T: Clone + Send + 'static> EventReceiver<T> {
    pub(crate) fn new(receiver: Receiver<T>) -> Self {
        Self(ReusableBoxFuture::new(receive(receiver)))
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, Lagged>>> {
        let (received, receiver) = ready!(self.0.poll(cx));
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

/// A stream of the events of a [dispatcher](crate::Dispatcher::events) and its clones, beginning at the subscription.
/// The stream ends when the dispatcher and all clones are dropped.
pub struct ToolEvents(EventReceiver<ToolEvent>);

impl ToolEvents {
    pub(super) fn new(receiver: Receiver<ToolEvent>) -> Self {
        Self(EventReceiver::new(receiver))
    }

    /// Returns the next event or the number of missed events. Returns `None` after the last event.
    pub async fn next(&mut self) -> Option<Result<ToolEvent, Lagged>> {
        poll_fn(|cx| self.0.poll(cx)).await
    }
}

impl Stream for ToolEvents {
    type Item = Result<ToolEvent, Lagged>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll(cx)
    }
}

impl_debug!(ToolEvents);
