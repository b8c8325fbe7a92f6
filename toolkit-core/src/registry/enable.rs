//! Switching tools off and on again.

use super::ToolRegistry;
use super::filter::TagMatch;
use crate::error::{BuildError, BuildProblem};
use crate::name::normalize;
use crate::tool::{Tool, ToolDefinition, ToolTag};
use std::collections::BTreeSet;
use std::sync::Arc;

/// # Enabling and disabling
///
/// A disabled tool is not listed, and a call of it is answered with the reason. What is said about a tool itself
/// goes before what is said about its namespace, and that before what is said about tags. All of it stays in
/// force for tools that are registered, replaced or removed and registered again later.
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
///     "there is no tool `ad`; did you mean `add`?"
/// );
/// registry.enable("add")?;
/// assert_eq!(registry.len(), 1);
/// # Ok::<(), toolkit::BuildError>(())
/// ```
impl ToolRegistry {
    /// Disables a tool, for a reason that the model is told; an empty one is none.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such tool.
    pub fn disable(&mut self, name: &str, reason: &str) -> Result<(), BuildError> {
        self.known_tool(name)?;
        self.switches.disable(name, reason);
        self.settle();
        Ok(())
    }

    /// Enables a tool, whatever was said about its namespace or its tags.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such tool, and none was disabled under the name.
    pub fn enable(&mut self, name: &str) -> Result<(), BuildError> {
        if !self.switches.knows_tool(name) {
            self.known_tool(name)?;
        }
        let tool = self.get_any(name).cloned();
        self.switches.enable(name, tool.as_ref().map(Tool::definition));
        self.settle();
        Ok(())
    }

    /// Disables all tools of a namespace, for a reason that the model is told; an empty one is none.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such namespace.
    pub fn disable_namespace(&mut self, namespace: &str, reason: &str) -> Result<(), BuildError> {
        let namespace = self.known_namespace(namespace)?;
        self.switches.disable_namespace(&namespace, reason);
        self.settle();
        Ok(())
    }

    /// Takes back [`disable_namespace`](Self::disable_namespace). Tools that were disabled themselves stay so.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if there is no such namespace.
    pub fn enable_namespace(&mut self, namespace: &str) -> Result<(), BuildError> {
        let namespace = self.known_namespace(namespace)?;
        self.switches.enable_namespace(&namespace);
        self.settle();
        Ok(())
    }

    /// Disables all tools with these tags, for a reason that the model is told; an empty one is none.
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names for every tag of the program's own that no tool has.
    pub fn disable_tags(&mut self, tags: TagMatch, reason: &str) -> Result<(), BuildError> {
        let known: BTreeSet<&str> = self
            .every_definition()
            .flat_map(|definition| &definition.metadata.tags)
            .map(ToolTag::as_str)
            .collect();
        let unknown = tags.tags().filter(|tag| tag.is_custom() && !known.contains(tag.as_str()));
        let problem = |name: &str| BuildProblem::unknown("tag", name, known.iter().copied());
        BuildError::unless_empty(unknown.map(|tag| problem(tag.as_str())).collect())?;
        self.switches.disable_tags(tags, reason);
        self.settle();
        Ok(())
    }

    /// Takes back [`disable_tags`](Self::disable_tags) with the same tags. Returns whether there was such a rule.
    pub fn enable_tags(&mut self, tags: &TagMatch) -> bool {
        let was_there = self.switches.enable_tags(tags);
        self.settle();
        was_there
    }

    /// Why a tool is disabled, an empty text if for no known reason; `None` if it is not disabled, or not there.
    #[must_use]
    pub fn disabled_reason(&self, name: &str) -> Option<&str> {
        self.disabled.get(name).map(|disabled| &*disabled.reason)
    }

    /// The disabled tools with the reasons, in the order of their names.
    pub fn disabled(&self) -> impl Iterator<Item = (&Arc<dyn Tool>, &str)> {
        self.disabled.values().map(|disabled| (&disabled.tool, &*disabled.reason))
    }

    /// The tool of this name, also if it is disabled.
    #[must_use]
    pub fn get_any(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).or_else(|| self.disabled.get(name).map(|disabled| &disabled.tool))
    }

    /// All tools, disabled ones too, in no particular order.
    pub(super) fn every_tool(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values().chain(self.disabled.values().map(|disabled| &disabled.tool))
    }

    pub(super) fn every_tool_sorted(&self) -> Vec<&Arc<dyn Tool>> {
        let mut tools: Vec<&Arc<dyn Tool>> = self.every_tool().collect();
        tools.sort_by(|a, b| a.definition().name.cmp(&b.definition().name));
        tools
    }

    pub(crate) fn every_definition(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.every_tool().map(Tool::definition)
    }

    /// The tool of this name, also if it is disabled; an error with the nearest names if there is none.
    pub(super) fn known_tool(&self, name: &str) -> Result<&Arc<dyn Tool>, BuildProblem> {
        self.get_any(name).ok_or_else(|| {
            let tools = self.every_definition().map(|definition| definition.name.as_str());
            let known: BTreeSet<&str> = tools.chain(self.switches.tools()).collect();
            BuildProblem::unknown("tool", name, known)
        })
    }

    /// The namespace as the registry writes it; an error with the nearest names if there is none.
    pub(super) fn known_namespace(&self, namespace: &str) -> Result<String, BuildProblem> {
        let wanted = normalize(namespace);
        let of_tools = self.every_definition().filter_map(|definition| definition.name.namespace());
        let known: BTreeSet<&str> = of_tools.chain(self.switches.namespaces()).collect();
        if known.contains(wanted.as_str()) {
            return Ok(wanted);
        }
        Err(BuildProblem::unknown("namespace", namespace, known))
    }

    /// Puts every tool where it belongs after a rule has changed.
    pub(super) fn settle(&mut self) {
        let moves = |definition: &ToolDefinition, disabled: bool| {
            self.switches.reason(definition).is_some() != disabled
        };
        let leaving: Vec<Arc<dyn Tool>> =
            self.tools.values().filter(|tool| moves(tool.definition(), false)).cloned().collect();
        let coming: Vec<Arc<dyn Tool>> = self
            .disabled()
            .map(|(tool, _)| tool)
            .filter(|tool| moves(tool.definition(), true))
            .cloned()
            .collect();
        if !leaving.is_empty() || !coming.is_empty() {
            self.cache = self.cache.renewed();
        }
        leaving.into_iter().chain(coming).for_each(|tool| self.place(tool));
        for disabled in self.disabled.values_mut() {
            if let Some(reason) = self.switches.reason(disabled.tool.definition()) {
                disabled.reason = reason.clone();
            }
        }
    }

    /// Puts a tool among those that can be called, or among the disabled ones. There is no other of its name
    /// afterwards.
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

/// A tool that cannot be called.
#[derive(Clone)]
pub(super) struct Disabled {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) reason: Arc<str>,
}
