//! The changes of a live registry, as a stream of events.

use crate::event::{EventReceiver, Lagged};
use crate::name::ToolName;
use crate::registry::ToolRegistry;
use crate::schema::{Compatibility, SchemaDiff};
use crate::tool::Tool;
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
    /// The change.
    pub change: RegistryChange,
}

/// One change of a registry's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryChange {
    /// A tool was added.
    Registered {
        /// Its name.
        tool: ToolName,
    },
    /// A tool was removed.
    Unregistered {
        /// Its name.
        tool: ToolName,
    },
    /// Another tool took the name.
    Replaced {
        /// The name.
        tool: ToolName,
        /// Whether calls written for the earlier tool still work.
        parameters: Compatibility,
    },
    /// Another tool took the name until the earlier one is restored.
    Overridden {
        /// The name.
        tool: ToolName,
    },
    /// An overridden tool is back.
    Restored {
        /// Its name.
        tool: ToolName,
    },
    /// A disabled tool can be called again.
    Enabled {
        /// Its name.
        tool: ToolName,
    },
    /// A tool was disabled, or its reason changed.
    Disabled {
        /// Its name.
        tool: ToolName,
        /// The reason; empty if none was given.
        reason: String,
    },
}

/// Returns the differences between two states of a registry, sorted by name.
pub(super) fn changes(before: &ToolRegistry, after: &ToolRegistry) -> Vec<RegistryChange> {
    let mut changes = Vec::new();
    for earlier in before.all_tools_sorted() {
        let tool = &earlier.definition().name;
        if after.get_any(tool.as_str()).is_none() {
            changes.push(RegistryChange::Unregistered { tool: tool.clone() });
        }
    }
    for now in after.all_tools_sorted() {
        let definition = now.definition();
        let (tool, name) = (definition.name.clone(), definition.name.as_str());
        let reason = after.disabled_reason(name);
        let Some(earlier) = before.get_any(name) else {
            changes.push(RegistryChange::Registered { tool: tool.clone() });
            changes.extend(reason.map(|reason| RegistryChange::Disabled { tool, reason: reason.to_owned() }));
            continue;
        };
        if !Arc::ptr_eq(earlier, now) {
            let tool = tool.clone();
            changes.push(match (before.is_overridden(name), after.is_overridden(name)) {
                (false, true) => RegistryChange::Overridden { tool },
                (true, false) => RegistryChange::Restored { tool },
                _ => {
                    let diff =
                        SchemaDiff::of_arguments(&earlier.definition().parameters, &definition.parameters);
                    RegistryChange::Replaced { tool, parameters: diff.compatibility() }
                }
            });
        }
        match (before.disabled_reason(name), reason) {
            (earlier, Some(reason)) if earlier != Some(reason) => {
                changes.push(RegistryChange::Disabled { tool, reason: reason.to_owned() });
            }
            (Some(_), None) => changes.push(RegistryChange::Enabled { tool }),
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
struct ViewChanges {
    /// Returns the view's tools and version; `None` after the view was dropped.
    now: Box<dyn Fn() -> Option<(Arc<ToolRegistry>, u64)> + Send + Sync>,
    last: Arc<ToolRegistry>,
    queue: VecDeque<RegistryEvent>,
}

impl RegistryEvents {
    pub(super) fn new(receiver: Receiver<RegistryEvent>) -> Self {
        Self { events: EventReceiver::new(receiver), view: None }
    }

    pub(super) fn of_view(
        receiver: Receiver<RegistryEvent>,
        last: Arc<ToolRegistry>,
        now: impl Fn() -> Option<(Arc<ToolRegistry>, u64)> + Send + Sync + 'static,
    ) -> Self {
        let view = ViewChanges { now: Box::new(now), last, queue: VecDeque::new() };
        Self { events: EventReceiver::new(receiver), view: Some(view) }
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
            let changes = changes(&view.last, &registry).into_iter();
            view.queue.extend(changes.map(|change| RegistryEvent { version, change }));
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
