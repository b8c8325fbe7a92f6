//! Removing, replacing and overriding tools.

use super::filter::ToolFilter;
use super::{RegisteredTool, ToolRegistry};
use crate::definition::{AdaptedTool, Tool, ToolDefinition};
use crate::error::{BuildError, BuildProblem};
use crate::name::ToolName;
use std::sync::Arc;

/// # Changing tools
impl ToolRegistry {
    /// Removes a tool and returns it. The original of an [override](Self::override_tool) is removed as
    /// well.
    ///
    /// # Errors
    /// No tool has this name.
    pub fn unregister(&mut self, name: &str) -> Result<Arc<dyn Tool>, BuildError> {
        let tool = self.require_tool(name)?.clone();
        self.tools.remove(name);
        self.cache = self.cache.renewed();
        Ok(tool)
    }

    /// Replaces the tool of the same name with `tool`, and returns the old one.
    ///
    /// # Errors
    /// No tool has this name.
    pub fn replace(&mut self, tool: impl Tool + 'static) -> Result<Arc<dyn Tool>, BuildError> {
        let tool: Arc<dyn Tool> = Arc::new(tool);
        let earlier = self.require_tool(tool.definition().name.as_str())?.clone();
        self.insert(tool);
        Ok(earlier)
    }

    /// Overrides a tool with another until it is [restored](Self::restore).
    ///
    /// The new tool is called under the original's name. After several overrides, `restore` brings back the
    /// first original.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, ToolRegistry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let now = ClosureTool::without_arguments("now", "The year.", || 2026)?;
    /// let fixed = ClosureTool::without_arguments("for_tests", "The year.", || 1999)?;
    /// let mut registry = ToolRegistry::from_tools([now])?;
    /// registry.override_tool("now", fixed)?;
    /// assert_eq!(registry.call("now", "{}").await?.to_text(), "1999");
    /// registry.restore("now")?;
    /// assert_eq!(registry.call("now", "{}").await?.to_text(), "2026");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// No tool has this name.
    pub fn override_tool(&mut self, name: &str, tool: impl Tool + 'static) -> Result<(), BuildError> {
        let earlier = self.require_tool(name)?.clone();
        let own_name = &earlier.definition().name;
        let tool: Arc<dyn Tool> = if tool.definition().name == *own_name {
            Arc::new(tool)
        } else {
            Arc::new(AdaptedTool::new(tool).with_name(own_name.clone()))
        };
        self.insert(tool).original.get_or_insert(earlier);
        Ok(())
    }

    /// Restores the original of an [overridden](Self::override_tool) tool, and returns the overriding one.
    ///
    /// # Errors
    /// No tool has this name, or it is not overridden.
    pub fn restore(&mut self, name: &str) -> Result<Arc<dyn Tool>, BuildError> {
        let replaced = self.require_tool(name)?.clone();
        let Some(original) = self.tools.get_mut(name).and_then(|entry| entry.original.take()) else {
            return Err(BuildProblem::NotOverridden { tool: name.to_owned() }.into());
        };
        self.insert(original);
        Ok(replaced)
    }

    /// Returns the sorted names of [overridden](Self::override_tool) tools.
    pub fn overridden(&self) -> impl Iterator<Item = &str> {
        let overridden = self.entries().into_iter().filter(|entry| entry.original.is_some());
        overridden.map(|entry| entry.name().as_str())
    }

    /// Returns a registry with only the tools passing the filter. Errors do not mention the others.
    ///
    /// An included name without its namespace, such as `read` for `files-read`, is a problem:
    /// [`check`](Self::check) reports it, and no dispatcher is created.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, ToolFilter, ToolRegistry};
    ///
    /// let tools = ["read", "remove"].map(|name| ClosureTool::without_arguments(name, "", || 1));
    /// let [read, remove] = tools;
    /// let registry = ToolRegistry::from_tools([read?, remove?])?;
    /// let harmless = registry.filtered(&ToolFilter::new().exclude(["rem*"])?);
    /// assert_eq!(harmless.names().collect::<Vec<_>>(), ["read"]);
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    #[must_use]
    pub fn filtered(&self, filter: &ToolFilter) -> Self {
        let names: Vec<&ToolName> = self.entries().into_iter().map(RegisteredTool::name).collect();
        let mut filtered = self.subset(|definition| filter.matches(definition));
        filtered.problems.extend(filter.bare_names(&names));
        filtered
    }

    /// Returns a registry with only the tools accepted by `keep`. Rules for other tools are dropped, those
    /// for namespaces and tags stay.
    pub(super) fn subset(&self, keep: impl Fn(&ToolDefinition) -> bool) -> Self {
        let mut subset = self.clone();
        subset.tools.retain(|_, entry| keep(entry.tool.definition()));
        subset.switches.tools.retain(|name, _| subset.tools.contains_key(&**name));
        subset.cache = self.cache.renewed();
        subset
    }
}
