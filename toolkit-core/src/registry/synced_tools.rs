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
        registry.change(|registry| register_all(registry, &tools))?;
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
        let mut edits = Vec::new();
        for name in self.tools.keys() {
            if !latest.contains_key(name) {
                edits.push(Edit { name: name.clone(), is_known: true, tool: None });
            }
        }
        for (name, tool) in &latest {
            let known = self.tools.get(name);
            if known.is_none_or(|known| known.definition() != tool.definition()) {
                edits.push(Edit { name: name.clone(), is_known: known.is_some(), tool: Some(tool.clone()) });
            }
        }
        let mut refused = Vec::new();
        if self.registry.change(|registry| apply_all(registry, &edits)).is_err() {
            for edit in edits {
                if let Err(error) = self.registry.change(|registry| edit.apply(registry)) {
                    refused.push((edit.name, error));
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

/// A change of one tool, from the source to the registry.
struct Edit {
    name: ToolName,
    /// Whether the source had the tool before.
    is_known: bool,
    /// `None` if the source has it no more.
    tool: Option<Arc<dyn Tool>>,
}

impl Edit {
    fn apply(&self, registry: &mut ToolRegistry) -> Result<(), BuildError> {
        let name = self.name.as_str();
        match self.tool.clone() {
            Some(tool) if !self.is_known => registry.register(tool),
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
}

fn apply_all(registry: &mut ToolRegistry, edits: &[Edit]) -> Result<(), BuildError> {
    for edit in edits {
        edit.apply(registry)?;
    }
    Ok(())
}

fn register_all(registry: &mut ToolRegistry, tools: &ToolsByName) -> Result<(), BuildError> {
    for tool in tools.values() {
        registry.register(tool.clone())?;
    }
    Ok(())
}

fn by_name(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> ToolsByName {
    tools.into_iter().map(|tool| (tool.definition().name.clone(), tool)).collect()
}

impl fmt::Debug for SyncedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.keys()).finish()
    }
}
