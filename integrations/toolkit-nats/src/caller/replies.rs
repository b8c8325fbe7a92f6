//! The replies to all calls of a caller: one subscription, and a line for each call.

use crate::fleet::{Fleet, FleetError};
use crate::locks::lock;
use async_nats::{StatusCode, Subject};
use bytes::Bytes;
use futures_util::StreamExt as _;
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use toolkit_core::CancellationToken;

/// The number of replies to one call that wait to be read. Beyond it, replies are dropped: a call whose result lacks a
/// chunk has an unknown outcome.
const WAITING: usize = 1_024;

/// A reply to a call.
#[derive(Debug)]
pub(super) enum Reply {
    Frame(Bytes),
    /// Nobody subscribes to the subject of the call.
    NoResponders,
}

/// The replies to one call that were not read yet. A channel would allocate space for many of them, and most calls have
/// one.
#[derive(Default)]
struct Slot(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    replies: VecDeque<Reply>,
    reader: Option<Waker>,
}

impl Slot {
    fn add(&self, reply: Reply) {
        let mut waiting = lock(&self.0);
        if waiting.replies.len() == WAITING {
            return;
        }
        waiting.replies.push_back(reply);
        let reader = waiting.reader.take();
        drop(waiting);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn poll_next(&self, cx: &Context<'_>) -> Poll<Reply> {
        let mut waiting = lock(&self.0);
        match waiting.replies.pop_front() {
            Some(reply) => Poll::Ready(reply),
            None => {
                waiting.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

type Lines = Arc<Mutex<HashMap<u64, Arc<Slot>>>>;

/// The subscription to all replies.
pub(super) struct Replies {
    inbox: String,
    next: AtomicU64,
    lines: Lines,
}

impl Replies {
    pub(super) async fn subscribe(fleet: &Fleet, stop: CancellationToken) -> Result<Self, FleetError> {
        let inbox = fleet.client.new_inbox();
        let mut messages = fleet.client.subscribe(format!("{inbox}.*")).await.map_err(FleetError::lost)?;
        let lines = Lines::default();
        let open = lines.clone();
        tokio::spawn(stop.run_until_cancelled_owned(async move {
            while let Some(message) = messages.next().await {
                let number = message.subject.rsplit('.').next().and_then(|number| number.parse::<u64>().ok());
                let slot = number.and_then(|number| lock(&open).get(&number).cloned());
                let Some(slot) = slot else { continue };
                slot.add(match message.status {
                    Some(StatusCode::NO_RESPONDERS) => Reply::NoResponders,
                    _ => Reply::Frame(message.payload),
                });
            }
        }));
        Ok(Self { inbox, next: AtomicU64::new(0), lines })
    }

    /// Opens a line for one call.
    pub(super) fn open(&self) -> ReplyLine {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let slot = Arc::new(Slot::default());
        lock(&self.lines).insert(number, slot.clone());
        let subject = format!("{}.{number}", self.inbox).into();
        ReplyLine { subject, number, slot, lines: self.lines.clone() }
    }
}

/// The replies to one call. Later ones are dropped with this value.
pub(super) struct ReplyLine {
    pub(super) subject: Subject,
    number: u64,
    slot: Arc<Slot>,
    lines: Lines,
}

impl ReplyLine {
    /// Waits for the next reply.
    pub(super) async fn next(&mut self) -> Reply {
        poll_fn(|cx| self.slot.poll_next(cx)).await
    }
}

impl Drop for ReplyLine {
    fn drop(&mut self) {
        lock(&self.lines).remove(&self.number);
    }
}
