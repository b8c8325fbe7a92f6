//! Events of a dispatcher: streams, listeners, logs.

use super::Dispatcher;
use crate::events::{ExecutionLog, ToolEvent, ToolEvents};
use std::sync::Arc;

impl Dispatcher {
    /// Subscribes to the events of this dispatcher and its clones, for batches started later.
    ///
    /// A stream keeps the latest 4,096 events. A slow reader misses events, which the stream
    /// [reports](crate::events::Lagged), while a [listener](Self::with_listener) misses none. Without
    /// streams and listeners, events cost nothing.
    #[must_use]
    pub fn events(&self) -> ToolEvents {
        self.settings.bus.subscribe()
    }

    /// Adds a listener for the events of this dispatcher and of clones made later.
    ///
    /// The dispatcher calls it synchronously, so it should return quickly. Its panics are ignored.
    ///
    /// ```
    /// use toolkit_ai::{Dispatcher, ToolCall, ToolRegistry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let (sender, events) = std::sync::mpsc::channel();
    /// let dispatcher = Dispatcher::new(ToolRegistry::new())?
    ///     .with_listener(move |event| sender.send(event.name()).unwrap());
    /// dispatcher.dispatch([ToolCall::new("1", "add", "{}")]).await;
    /// assert!(events.try_iter().eq(["tool.call", "tool.error"]));
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// # }).unwrap();
    /// ```
    pub fn with_listener(self, listener: impl Fn(&ToolEvent) + Send + Sync + 'static) -> Self {
        self.with(|settings| Arc::make_mut(&mut settings.bus).add_listener(listener))
    }

    /// Records every call of this dispatcher, and of clones made later, in `log`.
    pub fn with_log(self, log: &ExecutionLog) -> Self {
        let log = log.clone();
        self.with_listener(move |event| log.record(event))
    }

    /// Sets whether events, logs and spans include arguments, outputs and the texts of errors.
    ///
    /// The default is `false`, because these may be private or large. Errors then have their kind and a
    /// text for it.
    pub fn with_event_contents(self, contents: bool) -> Self {
        self.with(|settings| Arc::make_mut(&mut settings.bus).include_contents(contents))
    }
}
