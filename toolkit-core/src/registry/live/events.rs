//! What changed in a live registry, told to whoever listens.

use crate::event::{EventReceiver, Lagged};
use crate::name::ToolName;
use crate::registry::ToolRegistry;
use crate::schema::{Compatibility, SchemaDiff};
use crate::tool::Tool;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::broadcast::Receiver;

/// How many events are kept for listeners that are slow.
pub(super) const EVENTS_KEPT: usize = 256;

/// One change of a [live registry](super::LiveRegistry).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryEvent {
    /// The [version](super::LiveRegistry::version) of which the change is part; changes that were made together
    /// have the same.
    pub version: u64,
    /// What changed.
    pub change: RegistryChange,
}

/// What changed in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryChange {
    /// A tool is there that was not.
    Registered {
        /// Its name.
        tool: ToolName,
    },
    /// A tool is gone.
    Unregistered {
        /// Its name.
        tool: ToolName,
    },
    /// Another tool has the name.
    Replaced {
        /// The name.
        tool: ToolName,
        /// What that means for calls that were written for the earlier one.
        parameters: Compatibility,
    },
    /// Another tool has the name until the earlier one is restored.
    Overridden {
        /// The name.
        tool: ToolName,
    },
    /// The tool that was overridden is back.
    Restored {
        /// Its name.
        tool: ToolName,
    },
    /// A tool can be called that was disabled.
    Enabled {
        /// Its name.
        tool: ToolName,
    },
    /// A tool was disabled, or is for another reason.
    Disabled {
        /// Its name.
        tool: ToolName,
        /// The reason; an empty text if none is known.
        reason: String,
    },
}

/// Everything that differs between two states of a registry, in the order of the names.
pub(super) fn changes(before: &ToolRegistry, after: &ToolRegistry) -> Vec<RegistryChange> {
    let mut changes = Vec::new();
    for earlier in before.every_tool_sorted() {
        let tool = &earlier.definition().name;
        if after.get_any(tool.as_str()).is_none() {
            changes.push(RegistryChange::Unregistered { tool: tool.clone() });
        }
    }
    for now in after.every_tool_sorted() {
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

/// The changes of a [live registry](super::LiveRegistry), from the subscription on. It ends when all clones of the
/// registry are gone. If changes were [missed](Lagged), a [snapshot](super::LiveRegistry::snapshot) shows them.
pub struct RegistryEvents(EventReceiver<RegistryEvent>);

impl RegistryEvents {
    pub(super) fn new(receiver: Receiver<RegistryEvent>) -> Self {
        Self(EventReceiver::new(receiver))
    }

    /// The next change, or how many were missed; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<RegistryEvent, Lagged>> {
        poll_fn(|cx| self.0.poll(cx)).await
    }
}

impl Stream for RegistryEvents {
    type Item = Result<RegistryEvent, Lagged>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll(cx)
    }
}

impl fmt::Debug for RegistryEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegistryEvents")
    }
}
