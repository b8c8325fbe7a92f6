//! Disabling and enabling tools.

use super::ToolRegistry;
use super::filter::TagMatch;
use crate::error::{BuildError, BuildProblem};
use crate::name::normalize;
use crate::tool::{Tool, ToolDefinition, ToolTag};
use std::collections::BTreeSet;
use std::sync::Arc;

/// # Enabling and disabling
///
/// A disabled tool is not listed, and a call of it fails with the reason. A rule for the tool itself goes before one
/// for its namespace, and that before one for its tags. Rules also apply to tools registered or replaced later.
///
/// ```
/// use toolkit::{ClosureTool, ToolRegistry};
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
///
/// let add = ClosureTool::new("add", "Adds.", |_: Nothing| 1)?;
/// let mut registry = ToolRegistry::from_tools([add])?;
/// registry.disable("add", "under maintenance")?;
/// assert_eq!(registry.len(), 0);
/// assert_eq!(registry.disabled_reason("add"), Some("under maintenance"));
/// assert_eq!(
///     registry.disable("ad", "").unwrap_err().to_string(),
///     "tool `ad` not found; did you mean `add`?"
/// );
/// registry.enable("add")?;
/// assert_eq!(registry.len(), 1);
/// # Ok::<(), toolkit::BuildError>(())
/// ```
impl ToolRegistry {
    /// Disables a tool; the model reads the reason, unless it is empty.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such tool.
    pub fn disable(&mut self, name: &str, reason: &str) -> Result<(), BuildError> {
        self.require_tool(name)?;
        self.switches.disable(name, reason);
        self.apply_switches();
        Ok(())
    }

    /// Enables a tool, also against rules for its namespace or tags.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such tool and no rule for the name.
    pub fn enable(&mut self, name: &str) -> Result<(), BuildError> {
        if !self.switches.knows_tool(name) {
            self.require_tool(name)?;
        }
        let tool = self.get_any(name).cloned();
        self.switches.enable(name, tool.as_ref().map(Tool::definition));
        self.apply_switches();
        Ok(())
    }

    /// Disables all tools of a namespace; the model reads the reason, unless it is empty.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such namespace.
    pub fn disable_namespace(&mut self, namespace: &str, reason: &str) -> Result<(), BuildError> {
        let namespace = self.require_namespace(namespace)?;
        self.switches.disable_namespace(&namespace, reason);
        self.apply_switches();
        Ok(())
    }

    /// Removes the rule of [`disable_namespace`](Self::disable_namespace). Tools disabled by name stay disabled.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such namespace.
    pub fn enable_namespace(&mut self, namespace: &str) -> Result<(), BuildError> {
        let namespace = self.require_namespace(namespace)?;
        self.switches.enable_namespace(&namespace);
        self.apply_switches();
        Ok(())
    }

    /// Disables all tools with these tags; the model reads the reason, unless it is empty.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names for every custom tag that no tool has.
    pub fn disable_tags(&mut self, tags: TagMatch, reason: &str) -> Result<(), BuildError> {
        let known: BTreeSet<&str> = self
            .all_definitions()
            .flat_map(|definition| &definition.metadata.tags)
            .map(ToolTag::as_str)
            .collect();
        let unknown = tags.tags().filter(|tag| tag.is_custom() && !known.contains(tag.as_str()));
        let problem = |name: &str| BuildProblem::unknown("tag", name, known.iter().copied());
        BuildError::unless_empty(unknown.map(|tag| problem(tag.as_str())).collect())?;
        self.switches.disable_tags(tags, reason);
        self.apply_switches();
        Ok(())
    }

    /// Removes the rule of [`disable_tags`](Self::disable_tags) with the same tags. Returns whether there was one.
    pub fn enable_tags(&mut self, tags: &TagMatch) -> bool {
        let was_there = self.switches.enable_tags(tags);
        self.apply_switches();
        was_there
    }

    /// Returns the reason of a disabled tool, possibly empty; `None` if there is no disabled tool of this name.
    #[must_use]
    pub fn disabled_reason(&self, name: &str) -> Option<&str> {
        self.disabled.get(name).map(|disabled| &*disabled.reason)
    }

    /// Returns the disabled tools with the reasons, sorted by name.
    pub fn disabled(&self) -> impl Iterator<Item = (&Arc<dyn Tool>, &str)> {
        self.disabled.values().map(|disabled| (&disabled.tool, &*disabled.reason))
    }

    /// Returns the tool of this name, disabled or not.
    #[must_use]
    pub fn get_any(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).or_else(|| self.disabled.get(name).map(|disabled| &disabled.tool))
    }

    /// Returns all tools, disabled ones too, in no particular order.
    pub(super) fn all_tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values().chain(self.disabled.values().map(|disabled| &disabled.tool))
    }

    pub(super) fn all_tools_sorted(&self) -> Vec<&Arc<dyn Tool>> {
        let mut tools: Vec<&Arc<dyn Tool>> = self.all_tools().collect();
        tools.sort_by(|a, b| a.definition().name.cmp(&b.definition().name));
        tools
    }

    pub(crate) fn all_definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.all_tools().map(Tool::definition)
    }

    /// Returns the tool of this name, disabled or not, or an error with the nearest names.
    pub(super) fn require_tool(&self, name: &str) -> Result<&Arc<dyn Tool>, BuildProblem> {
        self.get_any(name).ok_or_else(|| {
            let tools = self.all_definitions().map(|definition| definition.name.as_str());
            let known: BTreeSet<&str> = tools.chain(self.switches.tools()).collect();
            BuildProblem::unknown("tool", name, known)
        })
    }

    /// Returns the normalised namespace, or an error with the nearest names.
    pub(super) fn require_namespace(&self, namespace: &str) -> Result<String, BuildProblem> {
        let wanted = normalize(namespace);
        let of_tools = self.all_definitions().filter_map(|definition| definition.name.namespace());
        let known: BTreeSet<&str> = of_tools.chain(self.switches.namespaces()).collect();
        if known.contains(wanted.as_str()) {
            return Ok(wanted);
        }
        Err(BuildProblem::unknown("namespace", namespace, known))
    }

    /// Moves tools between callable and disabled after a change of the rules.
    pub(super) fn apply_switches(&mut self) {
        let should_be_disabled = |tool: &Arc<dyn Tool>| self.switches.reason(tool.definition()).is_some();
        let leaving = self.tools.values().filter(|tool| should_be_disabled(tool));
        let coming =
            self.disabled.values().map(|disabled| &disabled.tool).filter(|tool| !should_be_disabled(tool));
        let moving: Vec<Arc<dyn Tool>> = leaving.chain(coming).cloned().collect();
        if !moving.is_empty() {
            self.cache = self.cache.renewed();
        }
        moving.into_iter().for_each(|tool| self.place(tool));
        for disabled in self.disabled.values_mut() {
            if let Some(reason) = self.switches.reason(disabled.tool.definition()) {
                disabled.reason = reason.clone();
            }
        }
    }

    /// Places a tool among the callable or the disabled ones, in place of any other of its name.
    pub(super) fn place(&mut self, tool: Arc<dyn Tool>) {
        let definition = tool.definition();
        let name: Arc<str> = definition.name.as_str().into();
        if let Some(reason) = self.switches.reason(definition).cloned() {
            self.tools.remove(&name);
            self.disabled.insert(name, Disabled { tool, reason });
        } else {
            self.disabled.remove(&name);
            self.tools.insert(name, tool);
        }
    }
}

/// A disabled tool with the reason.
#[derive(Clone)]
pub(super) struct Disabled {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) reason: Arc<str>,
}
