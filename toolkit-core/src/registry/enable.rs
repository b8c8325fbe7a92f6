//! Disabling and enabling tools.

use super::filter::TagMatch;
use super::{RegisteredTool, ToolRegistry};
use crate::definition::{Tool, ToolDefinition, ToolTag};
use crate::error::{BuildError, BuildProblem};
use crate::name::{ToolName, normalize};
use crate::schema::__private::{distinct, sort_by};
use std::sync::Arc;

/// # Enabling and disabling
///
/// A disabled tool is not listed, and a call of it fails with the reason. Rules disable single tools,
/// namespaces or tags: a rule for a tool overrides one for its namespace, which overrides one for tags.
/// Rules also apply to tools registered or replaced later.
///
/// ```
/// use toolkit_ai::{ClosureTool, ToolRegistry};
///
/// let add = ClosureTool::without_arguments("add", "Adds.", || 1)?;
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
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
impl ToolRegistry {
    /// Disables a tool. A call's error contains `reason`, unless it is empty.
    ///
    /// # Errors
    /// No tool has this name.
    pub fn disable(&mut self, name: &str, reason: &str) -> Result<(), BuildError> {
        self.require_tool(name)?;
        self.switches.tools.insert(name.into(), Some(reason.into()));
        self.apply_switches();
        Ok(())
    }

    /// Enables a tool, even if a rule disables its namespace or tags.
    ///
    /// # Errors
    /// Neither a tool nor a rule has this name.
    pub fn enable(&mut self, name: &str) -> Result<(), BuildError> {
        if self.switches.tools.remove(name).is_none() {
            self.require_tool(name)?;
        }
        let tool = self.get_any(name).map(Tool::definition);
        if tool.is_some_and(|tool| self.switches.broad_reason(tool).is_some()) {
            self.switches.tools.insert(name.into(), None);
        }
        self.apply_switches();
        Ok(())
    }

    /// Disables all tools of a namespace, with a reason like [`disable`](Self::disable).
    ///
    /// # Errors
    /// Neither a tool nor a rule has this namespace.
    pub fn disable_namespace(&mut self, namespace: &str, reason: &str) -> Result<(), BuildError> {
        let namespace = self.require_namespace(namespace)?;
        self.switches.namespaces.insert(namespace.into(), reason.into());
        self.apply_switches();
        Ok(())
    }

    /// Removes the rule added by [`disable_namespace`](Self::disable_namespace). Other rules stay.
    ///
    /// # Errors
    /// Neither a tool nor a rule has this namespace.
    pub fn enable_namespace(&mut self, namespace: &str) -> Result<(), BuildError> {
        let namespace = self.require_namespace(namespace)?;
        self.switches.namespaces.remove(namespace.as_str());
        self.apply_switches();
        Ok(())
    }

    /// Disables all tools with matching [tags](TagMatch), with a reason like [`disable`](Self::disable).
    ///
    /// # Errors
    /// A custom tag is on no tool.
    pub fn disable_tags(&mut self, tags: TagMatch, reason: &str) -> Result<(), BuildError> {
        let tags_of_tools = self.all_definitions().flat_map(|definition| &definition.metadata.tags);
        let known = distinct(tags_of_tools.map(ToolTag::as_str));
        let mut problems = Vec::new();
        for tag in tags.tags() {
            if tag.is_custom() && !known.contains(&tag.as_str()) {
                problems.push(BuildProblem::unknown("tag", tag.as_str(), known.iter().copied()));
            }
        }
        BuildError::unless_empty(problems)?;
        self.switches.tags.retain(|(known, _)| *known != tags);
        self.switches.tags.push((tags, reason.into()));
        self.apply_switches();
        Ok(())
    }

    /// Removes the rule added by [`disable_tags`](Self::disable_tags) for the same tags, and returns
    /// whether there was one.
    pub fn enable_tags(&mut self, tags: &TagMatch) -> bool {
        let before = self.switches.tags.len();
        self.switches.tags.retain(|(known, _)| known != tags);
        self.apply_switches();
        self.switches.tags.len() < before
    }

    /// Returns the reason why `name` is disabled, possibly empty; `None` if it is not.
    #[must_use]
    pub fn disabled_reason(&self, name: &str) -> Option<&str> {
        self.tools.get(name)?.disabled.as_deref()
    }

    /// Returns the disabled tools with their reasons, sorted by name.
    pub fn disabled(&self) -> impl Iterator<Item = (&Arc<dyn Tool>, &str)> {
        let mut disabled = Vec::new();
        for entry in self.entries() {
            if let Some(reason) = &entry.disabled {
                disabled.push((&entry.tool, &**reason));
            }
        }
        disabled.into_iter()
    }

    /// Returns the tool called `name`, disabled or not.
    #[must_use]
    pub fn get_any(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).map(|entry| &entry.tool)
    }

    pub(super) fn has(&self, name: &ToolName) -> bool {
        self.tools.contains_key(name.as_str())
    }

    /// Returns all tools, disabled or not, sorted by name.
    pub(super) fn entries(&self) -> Vec<&RegisteredTool> {
        let mut entries: Vec<&RegisteredTool> = self.tools.values().collect();
        sort_by(&mut entries, |a, b| a.name().cmp(b.name()));
        entries
    }

    /// Returns the definitions of all tools, disabled or not, in no particular order.
    pub(crate) fn all_definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.values().map(|entry| entry.tool.definition())
    }

    /// Returns the tool called `name`, disabled or not, or an error with the nearest names.
    pub(super) fn require_tool(&self, name: &str) -> Result<&Arc<dyn Tool>, BuildProblem> {
        if let Some(tool) = self.get_any(name) {
            return Ok(tool);
        }
        let tools = self.tools.keys().map(|name| &**name);
        let known = distinct(tools.chain(self.switches.tools.keys().map(|name| &**name)));
        Err(BuildProblem::unknown("tool", name, known))
    }

    /// Returns the normalised namespace, or an error with the nearest names if no tool or rule has it.
    pub(super) fn require_namespace(&self, namespace: &str) -> Result<String, BuildProblem> {
        let wanted = normalize(namespace);
        let of_tools = self.all_definitions().filter_map(|definition| definition.name.namespace());
        let known = distinct(of_tools.chain(self.switches.namespaces.keys().map(|name| &**name)));
        if known.contains(&wanted.as_str()) {
            return Ok(wanted);
        }
        Err(BuildProblem::unknown("namespace", namespace, known))
    }

    pub(super) fn apply_switches(&mut self) {
        for entry in self.tools.values_mut() {
            let reason = self.switches.reason(entry.tool.definition());
            if reason.is_some() != entry.disabled.is_some() {
                self.cache = self.cache.renewed();
            }
            entry.disabled = reason.cloned();
        }
    }
}
