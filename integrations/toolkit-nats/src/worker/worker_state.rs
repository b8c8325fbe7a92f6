//! The state of a worker: its running calls, its health, and what it sends.

use super::Worker;
use super::offers::Offers;
use super::statistics::WorkerStatistics;
use crate::fleet::Fleet;
use crate::frames::{Announcement, Frame, Refusal, frames_of};
use crate::subjects::ticks;
use async_nats::Subject;
use bytes::Bytes;
use futures_util::FutureExt as _;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::unconstrained;
use toolkit_core::__private::lock;
use toolkit_core::events::{ToolEvent, ToolEventKind};
use toolkit_core::{CancellationToken, Dispatcher};

/// The time between two announcements, and between two beats of a running call.
pub(super) const BEAT: Duration = Duration::from_secs(1);
/// The maximum age of a call when it begins, shorter than the silence after which a caller gives up.
const MAX_AGE: Duration = Duration::from_secs(2);
pub(super) const QUEUE: &str = "workers";

pub(super) struct RunningCall {
    pub(super) cancellation: CancellationToken,
    /// Notified when the caller asks about the call, as it does after each part of a result.
    pub(super) asked: Arc<Notify>,
    pub(super) started: Instant,
}

pub(super) struct WorkerState {
    pub(super) fleet: Fleet,
    pub(super) id: String,
    pub(super) settings: Worker,
    pub(super) calls: Calls,
}

pub(super) struct Calls {
    pub(super) started: Instant,
    /// The running calls, by their reply subjects.
    pub(super) running: Mutex<HashMap<String, RunningCall>>,
    pub(super) counts: Mutex<WorkerStatistics>,
    pub(super) is_draining: AtomicBool,
    /// When the latest tick that has come back was sent, in milliseconds after the start.
    pub(super) fresh: AtomicU64,
}

impl Calls {
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
            running: Mutex::default(),
            counts: Mutex::default(),
            is_draining: AtomicBool::new(false),
            fresh: AtomicU64::new(0),
        }
    }

    pub(super) fn statistics(&self) -> WorkerStatistics {
        let in_flight = lock(&self.running).len();
        WorkerStatistics { in_flight, ..*lock(&self.counts) }
    }

    /// The milliseconds since the start, at least one.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
    }

    /// Returns whether a message that is received now may be too old to begin: the worker was stopped, or its
    /// connection hangs. The server keeps the order, so a message is no older than the last tick before it.
    pub(super) fn is_stalled(&self) -> bool {
        let age = self.now().saturating_sub(self.fresh.load(Ordering::Relaxed));
        u128::from(age) > MAX_AGE.as_millis()
    }
}

impl WorkerState {
    pub(super) async fn send(&self, reply: Subject, frame: &Frame) {
        // On an error the connection has ended. The caller notices the silence.
        let _ = self.fleet.client.publish(reply, frame.write()).await;
    }

    pub(super) async fn send_body(&self, reply: &Subject, body: &Bytes) {
        for frame in frames_of(body, self.fleet.client.max_payload()) {
            self.send(reply.clone(), &frame).await;
        }
    }

    pub(super) async fn refuse(&self, reply: Subject, refusal: &Refusal) {
        lock(&self.calls.counts).refused += u64::from(*refusal == Refusal::Full);
        self.send(reply, &Frame::Refused(refusal.clone())).await;
    }

    /// Sends a frame of a call without waiting, or drops it if too many wait.
    pub(super) fn send_now(&self, reply: Subject, frame: &Frame) {
        let _ = unconstrained(self.send(reply, frame)).now_or_never();
    }

    pub(super) fn announcement(&self, offers: &Offers) -> Announcement {
        #[cfg(feature = "ledger")]
        let has_ledger = self.settings.ledger.is_some();
        #[cfg(not(feature = "ledger"))]
        let has_ledger = false;
        Announcement {
            worker: self.id.clone(),
            versions: offers.values().map(|offer| offer.version.clone()).collect(),
            has_ledger,
            is_full: self.settings.calls.is_full(),
            is_leaving: self.calls.is_draining.load(Ordering::Relaxed),
        }
    }

    pub(super) async fn announce(&self, subject: Subject, offers: &Offers) {
        let body = serde_json::to_vec(&self.announcement(offers)).unwrap_or_default();
        let _ = self.fleet.client.publish(subject, body.into()).await;
    }

    /// Sends and returns a tick: the time since the worker's start.
    pub(super) async fn send_tick(&self) -> u64 {
        let now = self.calls.now();
        let _ = self
            .fleet
            .client
            .publish(self.fleet.subject(ticks(&self.id)), now.to_be_bytes().to_vec().into())
            .await;
        now
    }

    /// Shows the callers of calls that have run for some time that their worker lives.
    pub(super) async fn beat(&self) {
        let mut replies: Vec<String> = Vec::new();
        for (reply, call) in lock(&self.calls.running).iter() {
            if call.started.elapsed() > BEAT / 4 {
                replies.push(reply.clone());
            }
        }
        for reply in replies {
            self.send(reply.into(), &Frame::Beat).await;
        }
    }

    /// Cancels the calls that have not ended in time, and sends what waits.
    pub(super) async fn stop_calls(&self) {
        for call in lock(&self.calls.running).values() {
            call.cancellation.cancel();
        }
        // A synchronous tool cannot be interrupted.
        let _ = tokio::time::timeout(BEAT, self.settings.calls.all_ended()).await;
    }

    pub(super) fn with_events(self: &Arc<Self>, dispatcher: Dispatcher) -> Dispatcher {
        let state = Arc::downgrade(self);
        dispatcher.with_listener(move |event: &ToolEvent| send_event(&state, event))
    }
}

/// Sends the caller an event that only the worker's dispatcher emits.
fn send_event(state: &Weak<WorkerState>, event: &ToolEvent) {
    // The caller's dispatcher emits the other events, and progress takes a way of its own.
    let is_news = matches!(
        event.kind,
        ToolEventKind::Retried { .. }
            | ToolEventKind::ApprovalRequested { .. }
            | ToolEventKind::ApprovalDecided { .. }
    );
    if !is_news {
        return;
    }
    if let (Some(state), Some(reply)) = (state.upgrade(), &event.call.invocation_id) {
        state.send_now(reply.as_str().into(), &Frame::Event(Box::new(event.clone())));
    }
}
