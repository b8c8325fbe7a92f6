//! The listeners of a conversation.

use super::Cursor;
use crate::event::RunEvent;
use futures_core::Stream;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The most bytes of JSON that wait for a listener, which is cut off beyond them.
pub(super) const MAX_WAITING: usize = 256 * 1024;

/// Returns the bytes of an event as JSON.
pub(super) fn size_of(event: &RunEvent) -> usize {
    serde_json::to_vec(event).map_or(0, |json| json.len())
}

/// What a listener hears.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunUpdate {
    /// An event, and the place of the listener after it.
    #[non_exhaustive]
    Event {
        /// The place, to attach again.
        cursor: Cursor,
        /// The id of the run.
        run: Arc<str>,
        /// The event.
        event: Arc<RunEvent>,
    },
    /// Forget the events that are [after](Cursor::is_after) the saved entries of this place, because what follows takes
    /// their place: the attempt that they came from is gone, or they follow again as they were saved.
    #[non_exhaustive]
    Back {
        /// The place.
        cursor: Cursor,
    },
    /// Forget all events: the log was erased, or the conversation was deleted and begins again.
    #[non_exhaustive]
    Reset {
        /// The place before the first event.
        cursor: Cursor,
    },
    /// More than 256 KiB waited for this listener. It ends here; attach again with the last cursor.
    CutOff,
}

impl RunUpdate {
    /// Returns the event, if it is one.
    #[must_use]
    pub fn event(&self) -> Option<&RunEvent> {
        match self {
            Self::Event { event, .. } => Some(event),
            _ => None,
        }
    }

    /// Returns the place of the listener after this update.
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        match self {
            Self::Event { cursor, .. } | Self::Back { cursor } | Self::Reset { cursor } => Some(cursor),
            Self::CutOff => None,
        }
    }
}

/// The way to a listener.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    updates: UnboundedSender<(RunUpdate, usize)>,
    waiting: Arc<Waiting>,
}

/// The updates that wait for a listener.
#[derive(Debug, Default)]
struct Waiting {
    bytes: AtomicUsize,
    is_cut_off: AtomicBool,
}

impl Listener {
    pub(super) fn new() -> (Self, RunUpdates) {
        let (sender, receiver) = unbounded_channel();
        let waiting = Arc::<Waiting>::default();
        let updates = RunUpdates { past: VecDeque::new(), live: receiver, waiting: waiting.clone() };
        (Self { updates: sender, waiting }, updates)
    }

    /// Sends an update of this many bytes. Returns whether the listener is still there.
    pub(super) fn send(&self, update: RunUpdate, bytes: usize) -> bool {
        if self.waiting.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_WAITING {
            self.waiting.is_cut_off.store(true, Ordering::Relaxed);
            return false;
        }
        self.updates.send((update, bytes)).is_ok()
    }
}

/// The updates of a conversation for one listener, from [`Runs::attach`](super::Runs::attach). Dropping it stops only the
/// listener.
pub struct RunUpdates {
    /// What happened before.
    past: VecDeque<RunUpdate>,
    live: UnboundedReceiver<(RunUpdate, usize)>,
    waiting: Arc<Waiting>,
}

impl RunUpdates {
    pub(super) fn after(self, past: VecDeque<RunUpdate>) -> Self {
        Self { past, ..self }
    }

    /// Waits for the next update. `None` after the last one.
    pub async fn next(&mut self) -> Option<RunUpdate> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for RunUpdates {
    type Item = RunUpdate;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<RunUpdate>> {
        if let Some(update) = self.past.pop_front() {
            return Poll::Ready(Some(update));
        }
        match self.live.poll_recv(cx) {
            Poll::Ready(Some((update, bytes))) => {
                self.waiting.bytes.fetch_sub(bytes, Ordering::Relaxed);
                Poll::Ready(Some(update))
            }
            Poll::Ready(None) if self.waiting.is_cut_off.swap(false, Ordering::Relaxed) => {
                Poll::Ready(Some(RunUpdate::CutOff))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

debug!(RunUpdates, self, "past": self.past.len(), "waiting": self.waiting.bytes.load(Ordering::Relaxed));
