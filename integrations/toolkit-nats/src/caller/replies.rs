//! The replies to all calls of a caller: one subscription, and a line for each call.

use crate::fleet::{Fleet, FleetError};
use crate::locks::lock;
use async_nats::StatusCode;
use bytes::Bytes;
use futures_util::StreamExt as _;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
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
/// none.
#[derive(Default)]
struct Slot {
    waiting: Mutex<VecDeque<Reply>>,
    arrived: Notify,
}

impl Slot {
    fn add(&self, reply: Reply) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() < WAITING {
            waiting.push_back(reply);
            self.arrived.notify_one();
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
        ReplyLine { subject: format!("{}.{number}", self.inbox), number, slot, lines: self.lines.clone() }
    }
}

/// The replies to one call. Later ones are dropped with this value.
pub(super) struct ReplyLine {
    pub(super) subject: String,
    number: u64,
    slot: Arc<Slot>,
    lines: Lines,
}

impl ReplyLine {
    /// Waits for the next reply.
    pub(super) async fn next(&mut self) -> Reply {
        loop {
            let reply = lock(&self.slot.waiting).pop_front();
            match reply {
                Some(reply) => return reply,
                None => self.slot.arrived.notified().await,
            }
        }
    }
}

impl Drop for ReplyLine {
    fn drop(&mut self) {
        lock(&self.lines).remove(&self.number);
    }
}
