//! Who is told what happens to calls.

use super::Dispatcher;
use crate::event::{ExecutionLog, ToolEvent, ToolEvents};
use std::sync::Arc;

impl Dispatcher {
    /// What happens to calls from now on: to those of this dispatcher and of its clones, in batches that start after
    /// this. A batch that runs already is told only if somebody else listens to it.
    ///
    /// The latest 4,096 events are kept for a listener that is slow; if it misses some, it is
    /// [told](crate::event::Lagged). One that must not miss any is a [`with_listener`](Self::with_listener). If nobody
    /// listens, it costs nothing.
    #[must_use]
    pub fn events(&self) -> ToolEvents {
        self.hub.subscribe()
    }

    /// Has a function called with everything that happens to the calls of this dispatcher, and of clones that are
    /// made from now on. It is called where it happens, so it must be quick; one that panics harms no call.
    ///
    /// ```
    /// use toolkit::{Dispatcher, ToolCall, ToolRegistry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let (sender, events) = std::sync::mpsc::channel();
    /// let dispatcher = Dispatcher::new(ToolRegistry::new())?
    ///     .with_listener(move |event| sender.send(event.name()).unwrap());
    /// dispatcher.dispatch([ToolCall::new("1", "add", "{}")]).await;
    /// assert!(events.try_iter().eq(["tool.call", "tool.error"]));
    /// # Ok::<(), toolkit::BuildError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_listener(mut self, listener: impl Fn(&ToolEvent) + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.hub).add_listener(listener);
        self
    }

    /// Has every call of this dispatcher, and of clones that are made from now on, recorded in a log.
    #[must_use]
    pub fn with_log(self, log: &ExecutionLog) -> Self {
        let log = log.clone();
        self.with_listener(move |event| log.record(event))
    }

    /// Sets whether events, and with them logs and spans, carry what arguments and outputs say. They do not unless it
    /// is said here, because that may be private or large. Errors always tell their messages.
    #[must_use]
    pub fn with_event_contents(mut self, contents: bool) -> Self {
        Arc::make_mut(&mut self.hub).tell_contents(contents);
        self
    }
}
