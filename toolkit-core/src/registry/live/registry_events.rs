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
    let event = |tool: &ToolName, change| RegistryEvent { version, tool: tool.clone(), change };
    let gone = before.entries().into_iter().map(RegisteredTool::name).filter(|name| !after.has(name));
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

/// A stream of the changes of a [live registry](super::LiveRegistry). After missed changes, take a
/// [snapshot](super::LiveRegistry::snapshot).
pub type RegistryEvents = EventReceiver<RegistryEvent>;
