//! Disabling and enabling tools.

use super::filter::TagMatch;
use super::{Entry, ToolRegistry};
use crate::error::{BuildError, BuildProblem};
use crate::name::{ToolName, normalize};
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
/// # Ok::<(), toolkit::BuildError>(())
/// ```
impl ToolRegistry {
    /// Disables a tool; the model reads the reason, unless it is empty.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such tool.
    pub fn disable(&mut self, name: &str, reason: &str) -> Result<(), BuildError> {
        self.require_tool(name)?;
        self.switches.tools.insert(name.into(), Some(reason.into()));
        self.apply_switches();
        Ok(())
    }

    /// Enables a tool, also against rules for its namespace or tags.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such tool and no rule for the name.
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

    /// Disables all tools of a namespace; the model reads the reason, unless it is empty.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such namespace.
    pub fn disable_namespace(&mut self, namespace: &str, reason: &str) -> Result<(), BuildError> {
        let namespace = self.require_namespace(namespace)?;
        self.switches.namespaces.insert(namespace.into(), reason.into());
        self.apply_switches();
        Ok(())
    }

    /// Removes the rule of [`disable_namespace`](Self::disable_namespace). Tools disabled by name stay disabled.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such namespace.
    pub fn enable_namespace(&mut self, namespace: &str) -> Result<(), BuildError> {
        let namespace = self.require_namespace(namespace)?;
        self.switches.namespaces.remove(namespace.as_str());
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
        self.switches.tags.retain(|(known, _)| *known != tags);
        self.switches.tags.push((tags, reason.into()));
        self.apply_switches();
        Ok(())
    }

    /// Removes the rule of [`disable_tags`](Self::disable_tags) with the same tags. Returns whether there was one.
    pub fn enable_tags(&mut self, tags: &TagMatch) -> bool {
        let before = self.switches.tags.len();
        self.switches.tags.retain(|(known, _)| known != tags);
        self.apply_switches();
        self.switches.tags.len() < before
    }

    /// Returns the reason of a disabled tool, possibly empty; `None` if there is no disabled tool of this name.
    #[must_use]
    pub fn disabled_reason(&self, name: &str) -> Option<&str> {
        self.tools.get(name)?.disabled.as_deref()
    }

    /// Returns the disabled tools with the reasons, sorted by name.
    pub fn disabled(&self) -> impl Iterator<Item = (&Arc<dyn Tool>, &str)> {
        self.entries().into_iter().filter_map(|entry| Some((&entry.tool, entry.disabled.as_deref()?)))
    }

    /// Returns the tool of this name, disabled or not.
    #[must_use]
    pub fn get_any(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).map(|entry| &entry.tool)
    }

    pub(super) fn has(&self, name: &ToolName) -> bool {
        self.tools.contains_key(name.as_str())
    }

    /// Returns all tools, disabled ones too, sorted by name.
    pub(super) fn entries(&self) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self.tools.values().collect();
        entries.sort_by(|a, b| a.name().cmp(b.name()));
        entries
    }

    /// Returns the definitions of all tools, disabled ones too, in no particular order.
    pub(crate) fn all_definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.values().map(|entry| entry.tool.definition())
    }

    /// Returns the tool of this name, disabled or not, or an error with the nearest names.
    pub(super) fn require_tool(&self, name: &str) -> Result<&Arc<dyn Tool>, BuildProblem> {
        self.get_any(name).ok_or_else(|| {
            let tools = self.tools.keys().map(|name| &**name);
            let known: BTreeSet<&str> = tools.chain(self.switches.tools.keys().map(|name| &**name)).collect();
            BuildProblem::unknown("tool", name, known)
        })
    }

    /// Returns the normalised namespace, or an error with the nearest names.
    pub(super) fn require_namespace(&self, namespace: &str) -> Result<String, BuildProblem> {
        let wanted = normalize(namespace);
        let of_tools = self.all_definitions().filter_map(|definition| definition.name.namespace());
        let known: BTreeSet<&str> =
            of_tools.chain(self.switches.namespaces.keys().map(|name| &**name)).collect();
        if known.contains(wanted.as_str()) {
            return Ok(wanted);
        }
        Err(BuildProblem::unknown("namespace", namespace, known))
    }

    /// Disables and enables tools after a change of the rules.
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
