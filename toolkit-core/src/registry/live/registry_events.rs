//! A live registry's changes, as a stream of events.

use crate::events::EventReceiver;
use crate::name::ToolName;
use crate::registry::{RegisteredTool, ToolRegistry};
use crate::schema::{Compatibility, SchemaDiff};
use std::sync::Arc;

/// The number of buffered events for slow listeners.
pub(super) const EVENTS_KEPT: usize = 256;

/// One change of a [live registry](super::LiveRegistry).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryEvent {
    /// The [version](super::LiveRegistry::version) after the change, common to changes published together.
    pub version: u64,
    /// The name of the changed tool.
    pub tool: ToolName,
    /// The kind of change.
    pub change: RegistryChange,
}

/// The kind of change of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryChange {
    /// The tool was added.
    Registered,
    /// The tool was removed.
    Unregistered,
    /// Another tool with the same name replaced it.
    #[non_exhaustive]
    Replaced {
        /// Whether calls with the old parameters still work.
        parameters: Compatibility,
    },
    /// Another tool overrides it until the original is restored.
    Overridden,
    /// The original of an overridden tool was restored.
    Restored,
    /// The tool was enabled again.
    Enabled,
    /// The tool was disabled, or the reason changed.
    #[non_exhaustive]
    Disabled {
        /// The reason; empty if none was given.
        reason: String,
    },
}

/// Returns the changes between two states, removed tools first, each part sorted by name.
pub(super) fn changes(version: u64, before: &ToolRegistry, after: &ToolRegistry) -> Vec<RegistryEvent> {
    let mut changes = Vec::new();
    for entry in before.entries() {
        if !after.has(entry.name()) {
            let change = RegistryChange::Unregistered;
            changes.push(RegistryEvent { version, tool: entry.name().clone(), change });
        }
    }
    for now in after.entries() {
        let earlier = before.tools.get(now.name().as_str());
        for change in [change_of_tool(earlier, now), change_of_switch(earlier, now)].into_iter().flatten() {
            changes.push(RegistryEvent { version, tool: now.name().clone(), change });
        }
    }
    changes
}

fn change_of_tool(earlier: Option<&RegisteredTool>, now: &RegisteredTool) -> Option<RegistryChange> {
    let Some(earlier) = earlier else { return Some(RegistryChange::Registered) };
    if Arc::ptr_eq(&earlier.tool, &now.tool) {
        return None;
    }
    Some(match (&earlier.original, &now.original) {
        (None, Some(_)) => RegistryChange::Overridden,
        (Some(_), None) => RegistryChange::Restored,
        _ => {
            let [old, new] = [earlier, now].map(|entry| &entry.tool.definition().parameters);
            RegistryChange::Replaced { parameters: SchemaDiff::of_arguments(old, new).compatibility() }
        }
    })
}

fn change_of_switch(earlier: Option<&RegisteredTool>, now: &RegisteredTool) -> Option<RegistryChange> {
    let before = earlier.and_then(|earlier| earlier.disabled.as_ref());
    match (before, &now.disabled) {
        (before, Some(reason)) if before != Some(reason) => {
            Some(RegistryChange::Disabled { reason: reason.to_string() })
        }
        (Some(_), None) => Some(RegistryChange::Enabled),
        _ => None,
    }
}

/// A stream of the changes of a [live registry](super::LiveRegistry). After missed changes, take a
/// [snapshot](super::LiveRegistry::snapshot).
pub type RegistryEvents = EventReceiver<RegistryEvent>;
