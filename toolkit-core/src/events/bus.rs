//! The event bus of a dispatcher.

use super::{ToolEvent, ToolEvents};
use crate::guard::guarded;
use std::sync::{Arc, OnceLock};
use tokio::sync::broadcast::{self, Sender};

/// The number of recent events kept for slow readers.
const EVENTS_KEPT: usize = 4_096;

type Listener = dyn Fn(&ToolEvent) + Send + Sync;

/// Clones share the streams, and the listeners added before cloning.
#[derive(Clone, Default)]
pub(crate) struct EventBus {
    /// Created by the first subscription.
    streams: Arc<OnceLock<Sender<ToolEvent>>>,
    listeners: Vec<Arc<Listener>>,
    contents: bool,
}

impl EventBus {
    pub(crate) fn subscribe(&self) -> ToolEvents {
        let sender = self.streams.get_or_init(|| broadcast::channel(EVENTS_KEPT).0);
        ToolEvents::new(sender.subscribe())
    }

    pub(crate) fn add_listener(&mut self, listener: impl Fn(&ToolEvent) + Send + Sync + 'static) {
        self.listeners.push(Arc::new(listener));
    }

    pub(crate) fn include_contents(&mut self, contents: bool) {
        self.contents = contents;
    }

    pub(crate) fn includes_contents(&self) -> bool {
        self.contents
    }

    #[inline]
    pub(crate) fn has_listeners(&self) -> bool {
        !self.listeners.is_empty() || self.streams.get().is_some_and(|sender| sender.receiver_count() > 0)
    }

    pub(super) fn emit(&self, event: ToolEvent) {
        for listener in &self.listeners {
            // A panic of a listener does not fail the call.
            let _ = guarded(|| listener(&event));
        }
        if let Some(sender) = self.streams.get() {
            // Fails if the last stream was dropped in the meantime.
            let _ = sender.send(event);
        }
    }
}

impl_debug!(EventBus, |this| listeners: this.listeners.len(), contents: this.contents);
