//! Taking tools out, replacing them, putting others in their place for a while.

use super::ToolRegistry;
use super::filter::ToolFilter;
use crate::error::{BuildError, BuildProblem};
use crate::tool::{AdaptedTool, Tool};
use std::collections::BTreeSet;
use std::sync::Arc;

/// # Changing tools
impl ToolRegistry {
    /// Takes a tool out, with whatever it [overrides](Self::override_tool).
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such tool.
    pub fn unregister(&mut self, name: &str) -> Result<Arc<dyn Tool>, BuildError> {
        let tool = self.known_tool(name)?.clone();
        self.remove(name);
        Ok(tool)
    }

    /// Puts a tool in the place of the one that has its name, and returns that one.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such tool.
    pub fn replace(&mut self, tool: impl Tool + 'static) -> Result<Arc<dyn Tool>, BuildError> {
        let tool: Arc<dyn Tool> = Arc::new(tool);
        let earlier = self.known_tool(tool.definition().name.as_str())?.clone();
        self.put(tool);
        Ok(earlier)
    }

    /// Puts a tool in the place of another one, under the other one's name, until that is
    /// [restored](Self::restore). If the name is overridden already, what was there at first is restored then.
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
        let earlier = self.known_tool(name)?.clone();
        let own_name = &earlier.definition().name;
        let tool: Arc<dyn Tool> = if tool.definition().name == *own_name {
            Arc::new(tool)
        } else {
            Arc::new(AdaptedTool::new(tool).with_name(own_name.clone()))
        };
        self.put(tool);
        self.overridden.entry(name.into()).or_insert(earlier);
        Ok(())
    }

    /// Puts back the tool that was [overridden](Self::override_tool), and returns the one that took its place.
    ///
    /// # Errors
    /// [`BuildError`] if there is no such tool, or if it is not overridden.
    pub fn restore(&mut self, name: &str) -> Result<Arc<dyn Tool>, BuildError> {
        let replaced = self.known_tool(name)?.clone();
        let Some(original) = self.overridden.remove(name) else {
            return Err(BuildProblem::NotOverridden { tool: name.to_owned() }.into());
        };
        self.put(original);
        Ok(replaced)
    }

    /// The names of the tools that are [overridden](Self::override_tool), in their order.
    pub fn overridden(&self) -> impl Iterator<Item = &str> {
        self.overridden.keys().map(|name| &**name)
    }

    /// The registry with only those of its tools that pass a filter. The others are not there for whoever uses
    /// it: they are neither listed nor called nor named in errors.
    ///
    /// ```
    /// use toolkit::{ClosureTool, ToolFilter, ToolRegistry};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Nothing {}
    ///
    /// let tools = ["read", "remove"].map(|name| ClosureTool::new(name, "", |_: Nothing| 1));
    /// let [read, remove] = tools;
    /// let registry = ToolRegistry::from_tools([read?, remove?])?;
    /// let harmless = registry.filtered(&ToolFilter::new().exclude(["rem*"]));
    /// assert_eq!(harmless.names().collect::<Vec<_>>(), ["read"]);
    /// # Ok::<(), toolkit::BuildError>(())
    /// ```
    #[must_use]
    pub fn filtered(&self, filter: &ToolFilter) -> Self {
        self.part(&self.names_where(|tool| filter.matches(tool.definition())))
    }

    pub(super) fn is_overridden(&self, name: &str) -> bool {
        self.overridden.contains_key(name)
    }

    pub(super) fn names_where(&self, wanted: impl Fn(&dyn Tool) -> bool) -> BTreeSet<&str> {
        let wanted = self.every_tool().filter(|tool| wanted(&***tool));
        wanted.map(|tool| tool.definition().name.as_str()).collect()
    }

    /// The registry with only the tools of these names.
    pub(super) fn part(&self, names: &BTreeSet<&str>) -> Self {
        let mut part = self.clone();
        part.tools.retain(|name, _| names.contains(&**name));
        part.disabled.retain(|name, _| names.contains(&**name));
        part.overridden.retain(|name, _| names.contains(&**name));
        part.switches = self.switches.only_tools(names);
        part.cache = self.cache.renewed();
        part
    }

    /// Puts a tool in the place of the one of its name, if there is one.
    pub(super) fn put(&mut self, tool: Arc<dyn Tool>) {
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
