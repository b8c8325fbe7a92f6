//! Removing, replacing and overriding tools.

use super::ToolRegistry;
use super::filter::ToolFilter;
use crate::error::{BuildError, BuildProblem};
use crate::tool::{AdaptedTool, Tool};
use std::collections::BTreeSet;
use std::sync::Arc;

/// # Changing tools
impl ToolRegistry {
    /// Removes a tool, with the one it [overrides](Self::override_tool).
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such tool.
    pub fn unregister(&mut self, name: &str) -> Result<Arc<dyn Tool>, BuildError> {
        let tool = self.require_tool(name)?.clone();
        self.remove(name);
        Ok(tool)
    }

    /// Replaces the tool of the same name and returns the earlier one.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such tool.
    pub fn replace(&mut self, tool: impl Tool + 'static) -> Result<Arc<dyn Tool>, BuildError> {
        let tool: Arc<dyn Tool> = Arc::new(tool);
        let earlier = self.require_tool(tool.definition().name.as_str())?.clone();
        self.insert(tool);
        Ok(earlier)
    }

    /// Overrides a tool until it is [restored](Self::restore).
    ///
    /// The new tool takes the name. A second override keeps the first original.
    ///
    /// ```
    /// use toolkit::{ClosureTool, ToolRegistry};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Nothing {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let now = ClosureTool::new("now", "The year.", |_: Nothing| 2026)?;
    /// let fixed = ClosureTool::new("for_tests", "The year.", |_: Nothing| 1999)?;
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
    /// [`BuildError`] with the nearest names if there is no such tool.
    pub fn override_tool(&mut self, name: &str, tool: impl Tool + 'static) -> Result<(), BuildError> {
        let earlier = self.require_tool(name)?.clone();
        let own_name = &earlier.definition().name;
        let tool: Arc<dyn Tool> = if tool.definition().name == *own_name {
            Arc::new(tool)
        } else {
            Arc::new(AdaptedTool::new(tool).with_name(own_name.clone()))
        };
        self.insert(tool);
        self.overridden.entry(name.into()).or_insert(earlier);
        Ok(())
    }

    /// Restores an [overridden](Self::override_tool) tool and returns its replacement.
    ///
    /// # Errors
    /// [`BuildError`] if there is no such tool, or it is not overridden.
    pub fn restore(&mut self, name: &str) -> Result<Arc<dyn Tool>, BuildError> {
        let replaced = self.require_tool(name)?.clone();
        let Some(original) = self.overridden.remove(name) else {
            return Err(BuildProblem::NotOverridden { tool: name.to_owned() }.into());
        };
        self.insert(original);
        Ok(replaced)
    }

    /// Returns the sorted names of [overridden](Self::override_tool) tools.
    pub fn overridden(&self) -> impl Iterator<Item = &str> {
        self.overridden.keys().map(|name| &**name)
    }

    /// Returns a registry with only the tools passing a filter. The others are neither listed nor callable, and no
    /// error names them.
    ///
    /// ```
    /// use toolkit::{ClosureTool, ToolFilter, ToolRegistry};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Nothing {}
    ///
    /// let tools = ["read", "remove"].map(|name| ClosureTool::new(name, "", |_: Nothing| 1));
    /// let [read, remove] = tools;
    /// let registry = ToolRegistry::from_tools([read?, remove?])?;
    /// let harmless = registry.filtered(&ToolFilter::new().exclude(["rem*"])?);
    /// assert_eq!(harmless.names().collect::<Vec<_>>(), ["read"]);
    /// # Ok::<(), toolkit::BuildError>(())
    /// ```
    #[must_use]
    pub fn filtered(&self, filter: &ToolFilter) -> Self {
        self.subset(&self.names_where(|tool| filter.matches(tool.definition())))
    }

    pub(super) fn is_overridden(&self, name: &str) -> bool {
        self.overridden.contains_key(name)
    }

    pub(super) fn names_where(&self, wanted: impl Fn(&dyn Tool) -> bool) -> BTreeSet<&str> {
        let wanted = self.all_tools().filter(|tool| wanted(&***tool));
        wanted.map(|tool| tool.definition().name.as_str()).collect()
    }

    /// Returns a registry with only the tools of these names.
    pub(super) fn subset(&self, names: &BTreeSet<&str>) -> Self {
        let mut subset = self.clone();
        subset.tools.retain(|name, _| names.contains(&**name));
        subset.disabled.retain(|name, _| names.contains(&**name));
        subset.overridden.retain(|name, _| names.contains(&**name));
        subset.switches = self.switches.for_tools(|name| names.contains(name));
        subset.cache = self.cache.renewed();
        subset
    }

    /// Inserts a tool, in place of the one of its name.
    pub(super) fn insert(&mut self, tool: Arc<dyn Tool>) {
        self.place(tool);
        self.cache = self.cache.renewed();
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.tools.remove(name);
        self.disabled.remove(name);
        self.overridden.remove(name);
        self.cache = self.cache.renewed();
    }
}
