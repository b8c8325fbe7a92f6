//! The changes of a live registry, as a stream of events.

use crate::event::{EventReceiver, Lagged};
use crate::name::ToolName;
use crate::registry::{Entry, ToolRegistry};
use crate::schema::{Compatibility, SchemaDiff};
use futures_core::Stream;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::broadcast::Receiver;

/// The number of events kept for slow listeners.
pub(super) const EVENTS_KEPT: usize = 256;

/// One change of a [live registry](super::LiveRegistry).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryEvent {
    /// The [version](super::LiveRegistry::version) of the registry with the change; changes made together share it.
    pub version: u64,
    /// The name of the tool.
    pub tool: ToolName,
    /// The change.
    pub change: RegistryChange,
}

/// A change of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryChange {
    /// The tool was added.
    Registered,
    /// The tool was removed.
    Unregistered,
    /// Another tool took the name.
    Replaced {
        /// Whether calls written for the earlier tool still work.
        parameters: Compatibility,
    },
    /// Another tool took the name until the earlier one is restored.
    Overridden,
    /// The overridden tool is back.
    Restored,
    /// The tool can be called again.
    Enabled,
    /// The tool was disabled, or its reason changed.
    Disabled {
        /// The reason; empty if none was given.
        reason: String,
    },
}

/// Returns the differences between two states of a registry, sorted by name.
pub(super) fn changes(version: u64, before: &ToolRegistry, after: &ToolRegistry) -> Vec<RegistryEvent> {
    let mut changes = Vec::new();
    let event = |tool: &ToolName, change| RegistryEvent { version, tool: tool.clone(), change };
    let gone = before.entries().into_iter().map(Entry::name).filter(|name| !after.has(name));
    changes.extend(gone.map(|tool| event(tool, RegistryChange::Unregistered)));
    for now in after.entries() {
        let mut push = |change| changes.push(event(now.name(), change));
        let earlier = before.tools.get(now.name().as_str());
        match earlier {
            None => push(RegistryChange::Registered),
            Some(earlier) if Arc::ptr_eq(&earlier.tool, &now.tool) => {}
            Some(earlier) => push(match (&earlier.original, &now.original) {
                (None, Some(_)) => RegistryChange::Overridden,
                (Some(_), None) => RegistryChange::Restored,
                _ => {
                    let [old, new] = [earlier, now].map(|entry| &entry.tool.definition().parameters);
                    let parameters = SchemaDiff::of_arguments(old, new).compatibility();
                    RegistryChange::Replaced { parameters }
                }
            }),
        }
        match (earlier.and_then(|earlier| earlier.disabled.as_ref()), &now.disabled) {
            (earlier, Some(reason)) if earlier != Some(reason) => {
                push(RegistryChange::Disabled { reason: reason.to_string() });
            }
            (Some(_), None) => push(RegistryChange::Enabled),
            _ => {}
        }
    }
    changes
}

/// The changes of a [live registry](super::LiveRegistry) since the subscription.
///
/// The stream ends when all clones of the registry are dropped. After [missed](Lagged) changes a
/// [snapshot](super::LiveRegistry::snapshot) shows the current tools.
pub struct RegistryEvents {
    events: EventReceiver<RegistryEvent>,
    view: Option<ViewChanges>,
}

/// The changes of a view, compared anew after each change of the registry behind it.
pub(super) struct ViewChanges {
    /// Returns the view's tools and version; `None` after the view was dropped.
    pub(super) now: Box<dyn Fn() -> Option<(Arc<ToolRegistry>, u64)> + Send + Sync>,
    pub(super) last: Arc<ToolRegistry>,
    pub(super) queue: VecDeque<RegistryEvent>,
}

impl RegistryEvents {
    pub(super) fn new(receiver: Receiver<RegistryEvent>, view: Option<ViewChanges>) -> Self {
        Self { events: EventReceiver::new(receiver), view }
    }

    /// Waits for the next change, or the number of missed ones; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<RegistryEvent, Lagged>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RegistryEvent, Lagged>>> {
        let Some(view) = &mut self.view else { return self.events.poll(cx) };
        loop {
            if let Some(event) = view.queue.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            let next = ready!(self.events.poll(cx)).and_then(|_| (view.now)());
            let Some((registry, version)) = next else { return Poll::Ready(None) };
            view.queue.extend(changes(version, &view.last, &registry));
            view.last = registry;
        }
    }
}

impl Stream for RegistryEvents {
    type Item = Result<RegistryEvent, Lagged>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl fmt::Debug for RegistryEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegistryEvents")
    }
}
