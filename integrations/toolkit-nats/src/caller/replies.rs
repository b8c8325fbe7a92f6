//! The replies to all calls of a caller: one subscription, and a line for each call.

use crate::fleet::{Fleet, FleetError};
use crate::locks::lock;
use async_nats::StatusCode;
use bytes::Bytes;
use futures_util::StreamExt as _;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
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

type Lines = Arc<Mutex<HashMap<u64, mpsc::Sender<Reply>>>>;

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
        let waiting = lines.clone();
        tokio::spawn(stop.run_until_cancelled_owned(async move {
            while let Some(message) = messages.next().await {
                let number = message.subject.rsplit('.').next().and_then(|number| number.parse::<u64>().ok());
                let reply = match message.status {
                    Some(StatusCode::NO_RESPONDERS) => Reply::NoResponders,
                    _ => Reply::Frame(message.payload),
                };
                if let Some(line) = number.and_then(|number| lock(&waiting).get(&number).cloned()) {
                    let _ = line.try_send(reply);
                }
            }
        }));
        Ok(Self { inbox, next: AtomicU64::new(0), lines })
    }

    /// Opens a line for one call.
    pub(super) fn open(&self) -> ReplyLine {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, replies) = mpsc::channel(WAITING);
        lock(&self.lines).insert(number, sender);
        ReplyLine { subject: format!("{}.{number}", self.inbox), number, replies, lines: self.lines.clone() }
    }
}

/// The replies to one call. Later ones are dropped with this value.
pub(super) struct ReplyLine {
    pub(super) subject: String,
    number: u64,
    replies: mpsc::Receiver<Reply>,
    lines: Lines,
}

impl ReplyLine {
    /// Waits for the next reply. `None` if the caller was dropped.
    pub(super) async fn next(&mut self) -> Option<Reply> {
        self.replies.recv().await
    }
}

impl Drop for ReplyLine {
    fn drop(&mut self) {
        lock(&self.lines).remove(&self.number);
    }
}
