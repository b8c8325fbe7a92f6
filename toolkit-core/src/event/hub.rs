//! Where events go.

use super::{ToolEvent, ToolEvents};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use tokio::sync::broadcast::{self, Sender};

/// How many events are kept for listeners that are slow.
const EVENTS_KEPT: usize = 4_096;

type Listener = dyn Fn(&ToolEvent) + Send + Sync;

/// Where the events of a dispatcher go. Clones share the streams, and the listeners that they had when they were
/// made.
#[derive(Clone, Default)]
pub(crate) struct Hub {
    /// Made when somebody first asks for a stream.
    streams: Arc<OnceLock<Sender<ToolEvent>>>,
    listeners: Vec<Arc<Listener>>,
    /// Whether events carry what arguments and outputs say.
    contents: bool,
}

impl Hub {
    pub(crate) fn subscribe(&self) -> ToolEvents {
        let sender = self.streams.get_or_init(|| broadcast::channel(EVENTS_KEPT).0);
        ToolEvents::new(sender.subscribe())
    }

    pub(crate) fn add_listener(&mut self, listener: impl Fn(&ToolEvent) + Send + Sync + 'static) {
        self.listeners.push(Arc::new(listener));
    }

    pub(crate) fn tell_contents(&mut self, contents: bool) {
        self.contents = contents;
    }

    pub(crate) fn tells_contents(&self) -> bool {
        self.contents
    }

    /// Whether anybody listens.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        !self.listeners.is_empty() || self.streams.get().is_some_and(|sender| sender.receiver_count() > 0)
    }

    pub(super) fn tell(&self, event: ToolEvent) {
        for listener in &self.listeners {
            // What went wrong with a listener is none of the call's business; the panic hook has told it.
            let _ = catch_unwind(AssertUnwindSafe(|| listener(&event)));
        }
        if let Some(sender) = self.streams.get() {
            // Nobody listens any more, or they do: both are fine.
            let _ = sender.send(event);
        }
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub")
            .field("streams", &self.streams.get().map_or(0, Sender::receiver_count))
            .field("listeners", &self.listeners.len())
            .field("contents", &self.contents)
            .finish()
    }
}
