//! The subscriptions of a worker beside the one for calls, read as one stream.

use crate::fleet::{Fleet, FleetError};
use async_nats::{Message, Subscriber};
use futures_util::stream::{SelectAll, Stream, StreamExt as _};
use std::pin::Pin;
use std::task::{Context, Poll};

/// One subscription with its subject.
struct Line {
    subject: String,
    subscriber: Subscriber,
}

impl Stream for Line {
    type Item = Message;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        Pin::new(&mut self.subscriber).poll_next(cx)
    }
}

/// The subscriptions of a worker beside the one for calls.
#[derive(Default)]
pub(super) struct Inbox(SelectAll<Line>);

impl Inbox {
    /// Subscribes to a subject. With a queue group, one of the group receives each message.
    pub(super) async fn add(
        &mut self,
        fleet: &Fleet,
        subject: String,
        queue: Option<&str>,
    ) -> Result<(), FleetError> {
        let subscriber = match queue {
            Some(queue) => fleet.client.queue_subscribe(subject.clone(), queue.to_owned()).await,
            None => fleet.client.subscribe(subject.clone()).await,
        };
        let subscriber = subscriber.map_err(FleetError::lost)?;
        self.0.push(Line { subject, subscriber });
        Ok(())
    }

    /// Ends the subscription with this subject. A request that is on its way may be lost, and is repeated by its caller.
    pub(super) async fn drain(&mut self, subject: &str) {
        for line in self.0.iter_mut().filter(|line| line.subject == subject) {
            // An error means that the connection has ended, and so has the subscription.
            let _ = line.subscriber.drain().await;
        }
    }

    /// Returns the next message. `None` if there are no subscriptions.
    pub(super) async fn next(&mut self) -> Option<Message> {
        self.0.next().await
    }
}
