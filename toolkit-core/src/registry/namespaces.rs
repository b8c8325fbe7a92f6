//! Namespaces of a registry: moving, replacing and splitting off.

use super::{Collision, RegisteredTool, ToolRegistry};
use crate::definition::{AdaptedTool, Tool};
use crate::error::BuildError;
use crate::name::{NameError, Separator, ToolName, normalize};
use crate::schema::__private::distinct;
use std::sync::Arc;

/// # Namespaces
///
/// Renamed tools stay disabled or overridden.
impl ToolRegistry {
    /// Moves every tool into a namespace, a tool already in one only if `force` is `true`.
    ///
    /// See [`ToolName::update_namespace`].
    ///
    /// # Errors
    /// A new name is illegal or duplicate. The registry is then unchanged.
    pub fn update_namespace(
        &mut self,
        namespace: &str,
        force: bool,
        separator: Separator,
    ) -> Result<(), BuildError> {
        self.rename_all(|name| name.update_namespace(namespace, force, separator))
    }

    /// Changes the separator in all tool names.
    ///
    /// # Errors
    /// A new name is duplicate. The registry is then unchanged.
    pub fn change_separator(&mut self, separator: Separator) -> Result<(), BuildError> {
        self.rename_all(|name| with_separator(name, separator))
    }

    /// Moves the tools of a namespace into a new registry, with the same state and time limit.
    ///
    /// They keep their full names. [`reduce_namespaces`](Self::reduce_namespaces) removes the namespace.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, ToolRegistry};
    /// use toolkit_ai::name::Separator;
    ///
    /// let add = ClosureTool::without_arguments("add", "Adds.", || 1)?;
    /// let mut registry = ToolRegistry::from_tools([add])?;
    /// registry.update_namespace("math", false, Separator::Dash)?;
    /// assert_eq!(registry.names().collect::<Vec<_>>(), ["math-add"]);
    ///
    /// let mut math = registry.spinoff("math")?;
    /// math.reduce_namespaces()?;
    /// assert_eq!(math.names().collect::<Vec<_>>(), ["add"]);
    /// assert!(registry.is_empty());
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// Neither a tool nor a rule has this namespace.
    pub fn spinoff(&mut self, namespace: &str) -> Result<Self, BuildError> {
        let namespace = self.require_namespace(namespace)?;
        let mut part = self.subset(|definition| definition.name.namespace() == Some(&namespace));
        part.problems = Vec::new();
        self.tools.retain(|_, entry| !entry.is_in(&namespace));
        self.switches.tools.retain(|name, _| !part.tools.contains_key(&**name));
        self.cache = self.cache.renewed();
        Ok(part)
    }

    /// Replaces the tools of a namespace, for instance when a server announces changed ones.
    ///
    /// Tools missing from `tools` are removed, tools of the same name replaced, and new ones added. Of an
    /// [overridden](Self::override_tool) tool, only the original is replaced. Rules for disabling tools,
    /// namespaces and tags stay.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, ToolRegistry};
    /// use toolkit_ai::name::Separator;
    ///
    /// let tool = |name| ClosureTool::without_arguments(name, "", || 1);
    /// let mut registry = ToolRegistry::new();
    /// registry.replace_namespace("shop", [tool("buy")?, tool("sell")?], Separator::Dash)?;
    /// registry.replace_namespace("shop", [tool("buy")?, tool("rent")?], Separator::Dash)?;
    /// assert_eq!(registry.names().collect::<Vec<_>>(), ["shop-buy", "shop-rent"]);
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// A new name is illegal or duplicate, or taken by a tool outside of the namespace. The registry is
    /// then unchanged.
    pub fn replace_namespace<T: Tool + 'static>(
        &mut self,
        namespace: &str,
        tools: impl IntoIterator<Item = T>,
        separator: Separator,
    ) -> Result<(), BuildError> {
        let mut coming = Self::from_tools(tools)?;
        coming.rename_all(|name| inside(name, namespace, separator))?;
        let namespace = normalize(namespace);
        let mut taken = Vec::new();
        for entry in coming.entries() {
            let Some(known) = self.tools.get(entry.name().as_str()) else { continue };
            if !known.is_in(&namespace) {
                taken.push(known.tool.definition().duplicated_by(entry.tool.definition()));
            }
        }
        BuildError::unless_empty(taken)?;
        let mut changed = self.clone();
        changed.tools.retain(|name, entry| !entry.is_in(&namespace) || coming.tools.contains_key(name));
        for (name, entry) in &mut changed.tools {
            // Only the original changes, for a later `restore`.
            if let Some(original) = &mut entry.original
                && let Some(new) = coming.tools.remove(name)
            {
                *original = new.tool;
            }
        }
        changed.merge_with(coming, Collision::Replace)?;
        *self = changed;
        Ok(())
    }

    /// Removes the namespace from all names if there is only one. Returns whether any name changed.
    ///
    /// # Errors
    /// A new name is duplicate. The registry is then unchanged.
    pub fn reduce_namespaces(&mut self) -> Result<bool, BuildError> {
        let namespaces =
            distinct(self.all_definitions().filter_map(|definition| definition.name.namespace()));
        if namespaces.len() != 1 {
            return Ok(false);
        }
        self.rename_all(without_namespace)?;
        Ok(true)
    }

    /// Renames every tool, or none if a new name is illegal or taken.
    fn rename_all(
        &mut self,
        rename: impl Fn(&ToolName) -> Result<ToolName, NameError>,
    ) -> Result<(), BuildError> {
        let mut renamed = self.subset(|_| false);
        let mut problems = Vec::new();
        for RegisteredTool { tool, original, .. } in self.entries() {
            let definition = tool.definition();
            let name = match rename(&definition.name) {
                Ok(name) => name,
                Err(error) => {
                    problems.push(definition.illegal_name(error));
                    continue;
                }
            };
            renamed.switches.rename(&self.switches, definition, &name);
            match renamed.try_insert(under(tool, &name)) {
                Ok(entry) => entry.original = original.as_ref().map(|original| under(original, &name)),
                Err(problem) => problems.push(problem),
            }
        }
        BuildError::unless_empty(problems)?;
        *self = renamed;
        Ok(())
    }
}

/// Returns `name` moved into `namespace`. Separators in the method name stay.
pub(super) fn inside(name: &ToolName, namespace: &str, separator: Separator) -> Result<ToolName, NameError> {
    let method = if name.namespace().is_some() { name.method_name() } else { name.as_str() };
    ToolName::qualified(namespace, method, separator)
}

fn with_separator(name: &ToolName, separator: Separator) -> Result<ToolName, NameError> {
    match name.namespace() {
        Some(namespace) => name.requalify(Some(namespace), separator),
        None => Ok(name.clone()),
    }
}

fn without_namespace(name: &ToolName) -> Result<ToolName, NameError> {
    match name.namespace() {
        Some(_) => name.requalify(None, Separator::default()),
        None => Ok(name.clone()),
    }
}

fn under(tool: &Arc<dyn Tool>, name: &ToolName) -> Arc<dyn Tool> {
    if tool.definition().name == *name {
        return tool.clone();
    }
    Arc::new(AdaptedTool::from_arc(tool.clone()).with_name(name.clone()))
}
