//! The tools of a changing source.

use super::{LiveRegistry, ToolRegistry};
use crate::definition::Tool;
use crate::error::BuildError;
use crate::name::ToolName;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

type ToolsByName = BTreeMap<ToolName, Arc<dyn Tool>>;

/// The tools of one changing source, such as a server, in a [`LiveRegistry`].
///
/// ```
/// use std::sync::Arc;
/// use toolkit_ai::registry::SyncedTools;
/// use toolkit_ai::{ClosureTool, LiveRegistry, Tool, ToolRegistry};
///
/// let tool = |name| -> Result<Arc<dyn Tool>, toolkit_ai::BuildError> {
///     Ok(Arc::new(ClosureTool::without_arguments(name, "", || 1)?))
/// };
/// let live = LiveRegistry::new(ToolRegistry::new())?;
/// let mut synced = SyncedTools::new(&live, [tool("buy")?, tool("sell")?])?;
/// let refused = synced.update([tool("sell")?, tool("swap")?]);
/// assert!(refused.is_empty());
/// assert_eq!(live.snapshot().names().collect::<Vec<_>>(), ["sell", "swap"]);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
pub struct SyncedTools {
    registry: LiveRegistry,
    tools: ToolsByName,
}

impl SyncedTools {
    /// Registers the first tools, in a single change.
    ///
    /// # Errors
    /// A tool cannot be registered. The registry is then unchanged.
    pub fn new(
        registry: &LiveRegistry,
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
    ) -> Result<Self, BuildError> {
        let tools = by_name(tools);
        registry.change(|registry| tools.values().cloned().try_for_each(|tool| registry.register(tool)))?;
        Ok(Self { registry: registry.clone(), tools })
    }

    /// Makes `latest` the tools of the source, in a single change if possible.
    ///
    /// A tool with an unchanged definition is not replaced. A tool removed by the program stays away, and
    /// an [overridden](ToolRegistry::override_tool) one changes under its override.
    ///
    /// Returns the changes that the registry refuses, for instance of a taken name. The others are made,
    /// and the next update tries again.
    pub fn update(&mut self, latest: impl IntoIterator<Item = Arc<dyn Tool>>) -> Vec<(ToolName, BuildError)> {
        let mut latest = by_name(latest);
        let known = &self.tools;
        let mut edits: Vec<(ToolName, Option<Arc<dyn Tool>>)> = Vec::new();
        for name in known.keys() {
            if !latest.contains_key(name) {
                edits.push((name.clone(), None));
            }
        }
        for (name, tool) in &latest {
            if known.get(name).is_none_or(|known| known.definition() != tool.definition()) {
                edits.push((name.clone(), Some(tool.clone())));
            }
        }
        let apply = |registry: &mut ToolRegistry, (name, tool): &(ToolName, Option<Arc<dyn Tool>>)| {
            apply(registry, known.contains_key(name), name.as_str(), tool.clone())
        };
        let mut refused = Vec::new();
        if self.registry.change(|registry| edits.iter().try_for_each(|edit| apply(registry, edit))).is_err() {
            for edit in &edits {
                if let Err(error) = self.registry.change(|registry| apply(registry, edit)) {
                    refused.push((edit.0.clone(), error));
                }
            }
        }
        for (name, _) in &refused {
            latest.remove(name);
            latest.extend(self.tools.remove_entry(name));
        }
        self.tools = latest;
        refused
    }
}

fn apply(
    registry: &mut ToolRegistry,
    is_known: bool,
    name: &str,
    tool: Option<Arc<dyn Tool>>,
) -> Result<(), BuildError> {
    match tool {
        Some(tool) if !is_known => registry.register(tool),
        _ if registry.get_any(name).is_none() => Ok(()),
        None => registry.unregister(name).map(drop),
        Some(tool) if registry.overridden().any(|overridden| overridden == name) => {
            let above = registry.restore(name)?;
            registry.replace(tool)?;
            registry.override_tool(name, above)
        }
        Some(tool) => registry.replace(tool).map(drop),
    }
}

fn by_name(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> ToolsByName {
    tools.into_iter().map(|tool| (tool.definition().name.clone(), tool)).collect()
}

impl fmt::Debug for SyncedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.keys()).finish()
    }
}
