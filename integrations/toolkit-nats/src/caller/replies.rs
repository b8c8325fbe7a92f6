//! The replies to all calls of a caller: one subscription, and a line for each call.

use super::members::RemoteWorker;
use async_nats::{Message, StatusCode, Subject};
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use toolkit_core::__private::lock;

/// The maximum number of unread replies to a call. Further replies are dropped: a call whose result lacks a
/// chunk has an unknown outcome.
const WAITING: usize = 1_024;
/// The ends of rounds after which silence means something: three seconds, because the first may come at once.
/// Workers send a sign of life each second, and begin no call that has waited for two seconds.
const SILENCE: u64 = 7;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Frame(Bytes),
    /// Nobody subscribes to the subject of the message.
    NoResponders,
    /// The worker is silent in everything.
    WorkerLost,
    /// The worker lives, but is silent about this call: it or its result may be lost.
    Silence,
}

/// The unread replies to one call. A channel would allocate space for many, and most calls have one.
struct Slot {
    waiting: Mutex<Waiting>,
    /// The worker of a call. `None` for a question to all workers.
    worker: Option<Arc<RemoteWorker>>,
    /// The round in which the call was sent.
    opened: u64,
    /// The round of its latest reply or `Silence`.
    heard: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    replies: VecDeque<Reply>,
    reader: Option<Waker>,
}

impl Slot {
    fn new(worker: Option<Arc<RemoteWorker>>, round: u64) -> Self {
        Self { waiting: Mutex::default(), worker, opened: round, heard: AtomicU64::new(round) }
    }

    fn add(&self, reply: Reply) {
        let mut waiting = lock(&self.waiting);
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

    /// Takes a message as a sign of life for all calls of its worker.
    fn receive(&self, message: Message, round: u64) {
        self.heard.store(round, Ordering::Relaxed);
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            return self.add(Reply::NoResponders);
        }
        if let Some(worker) = &self.worker {
            worker.hear(round);
        }
        self.add(Reply::Frame(message.payload));
    }

    /// Adds a meaningful silence behind the other replies.
    fn judge(&self, round: u64) {
        let Some(worker) = &self.worker else { return };
        if round.saturating_sub(worker.heard().max(self.opened)) >= SILENCE {
            self.add(Reply::WorkerLost);
        } else if round.saturating_sub(self.heard.load(Ordering::Relaxed)) >= SILENCE {
            self.heard.store(round, Ordering::Relaxed);
            self.add(Reply::Silence);
        }
    }

    fn poll_next(&self, cx: &Context<'_>) -> Poll<Reply> {
        let mut waiting = lock(&self.waiting);
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

/// The lines of all calls. Silence is counted in rounds of listening, not by a clock: a round ends when
/// everything that has come is read. A caller that was stopped or cut off has not listened.
pub(super) struct Replies {
    inbox: String,
    next: AtomicU64,
    lines: Lines,
    rounds: AtomicU64,
}

impl Replies {
    pub(super) fn new(inbox: String) -> Self {
        Self { inbox, next: AtomicU64::new(0), lines: Lines::default(), rounds: AtomicU64::new(0) }
    }

    pub(super) fn inbox(&self) -> &str {
        &self.inbox
    }

    pub(super) fn subject(&self) -> String {
        format!("{}.*", self.inbox)
    }

    /// Opens a line for a call to a worker, or a question to all.
    pub(super) fn open(&self, worker: Option<&Arc<RemoteWorker>>) -> ReplyLine {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let slot = Arc::new(Slot::new(worker.cloned(), self.round()));
        lock(&self.lines).insert(number, slot.clone());
        let subject = format!("{}.{number}", self.inbox).into();
        ReplyLine { subject, number, slot, lines: self.lines.clone() }
    }

    pub(super) fn receive(&self, message: Message) {
        let number = message.subject.rsplit('.').next().and_then(|number| number.parse::<u64>().ok());
        let slot = number.and_then(|number| lock(&self.lines).get(&number).cloned());
        if let Some(slot) = slot {
            slot.receive(message, self.round());
        }
    }

    pub(super) fn round(&self) -> u64 {
        self.rounds.load(Ordering::Relaxed)
    }

    /// Ends a round of half a second, when all that has come was read. Returns the next round's number.
    pub(super) fn end_round(&self) -> u64 {
        let round = self.rounds.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.lines).values().for_each(|slot| slot.judge(round));
        round
    }
}

/// The replies to one call, dropped with this value.
pub(super) struct ReplyLine {
    pub(super) subject: Subject,
    number: u64,
    slot: Arc<Slot>,
    lines: Lines,
}

impl ReplyLine {
    pub(super) async fn next(&mut self) -> Reply {
        poll_fn(|cx| self.slot.poll_next(cx)).await
    }
}

impl Drop for ReplyLine {
    fn drop(&mut self) {
        lock(&self.lines).remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    fn message(line: &ReplyLine, status: Option<StatusCode>) -> Message {
        Message {
            subject: line.subject.clone(),
            reply: None,
            payload: Bytes::from_static(b"~"),
            headers: None,
            status,
            description: None,
            length: 0,
        }
    }

    fn read(line: &mut ReplyLine) -> Vec<Reply> {
        std::iter::from_fn(|| line.next().now_or_never()).collect()
    }

    fn end_rounds(replies: &Replies, count: u64) {
        for _ in 0..count {
            replies.end_round();
        }
    }

    #[test]
    fn silence_stands_behind_all_that_has_come() {
        let replies = Replies::new("inbox".to_owned());
        end_rounds(&replies, 100);
        let worker = Arc::new(RemoteWorker::new("w".into(), false, 0));
        let mut line = replies.open(Some(&worker));
        end_rounds(&replies, SILENCE - 1);
        assert_eq!(read(&mut line), []);
        replies.receive(message(&line, None));
        end_rounds(&replies, SILENCE);
        assert_eq!(read(&mut line), [Reply::Frame(Bytes::from_static(b"~")), Reply::WorkerLost]);
    }

    #[test]
    fn a_frame_of_any_call_is_a_sign_of_life_for_all_calls_of_its_worker() {
        let replies = Replies::new("inbox".to_owned());
        let worker = |id: &str| Arc::new(RemoteWorker::new(id.into(), false, 0));
        let (busy, other) = (worker("busy"), worker("other"));
        let large = replies.open(Some(&busy));
        let mut waits = replies.open(Some(&busy));
        let mut lost = replies.open(Some(&other));
        let mut question = replies.open(None);
        for _ in 0..SILENCE {
            replies.receive(message(&large, None));
            replies.end_round();
        }
        assert_eq!(read(&mut waits), [Reply::Silence]);
        assert_eq!(read(&mut lost), [Reply::WorkerLost]);
        assert_eq!(read(&mut question), []);
        // An announcement is one, too. Silence is reported again after the same time.
        busy.hear(replies.round());
        end_rounds(&replies, SILENCE - 1);
        busy.hear(replies.round());
        replies.end_round();
        assert_eq!(read(&mut waits), [Reply::Silence]);
        // What the server says is none.
        replies.receive(message(&waits, Some(StatusCode::NO_RESPONDERS)));
        end_rounds(&replies, SILENCE - 1);
        assert_eq!(read(&mut waits), [Reply::NoResponders, Reply::WorkerLost]);
    }
}
