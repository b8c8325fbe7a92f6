//! Namespaces of a registry: moving, replacing and splitting them off.

use super::{Collision, ToolRegistry};
use crate::error::{BuildError, BuildProblem};
use crate::name::{NameError, Separator, ToolName, normalize};
use crate::tool::{AdaptedTool, Tool};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// # Namespaces
///
/// Renamed tools stay disabled or overridden as before.
impl ToolRegistry {
    /// Moves every tool into a namespace; tools already in one only with `force`.
    ///
    /// See [`ToolName::update_namespace`].
    ///
    /// # Errors
    /// [`BuildError`] with every illegal or duplicate new name; the registry is then unchanged.
    pub fn update_namespace(
        &mut self,
        namespace: &str,
        force: bool,
        separator: Separator,
    ) -> Result<(), BuildError> {
        self.rename_all(|name| name.update_namespace(namespace, force, separator))
    }

    /// Changes the separator in all names with a namespace.
    ///
    /// # Errors
    /// [`BuildError`] with every duplicate new name; the registry is then unchanged.
    pub fn change_separator(&mut self, separator: Separator) -> Result<(), BuildError> {
        self.rename_all(|name| match name.namespace() {
            Some(namespace) => name.requalify(Some(namespace), separator),
            None => Ok(name.clone()),
        })
    }

    /// Splits the tools of a namespace off into a new registry with the same state and time limit.
    ///
    /// Names stay as they are; [`reduce_namespaces`](Self::reduce_namespaces) shortens them.
    ///
    /// ```
    /// use toolkit::{ClosureTool, ToolRegistry};
    /// use toolkit::name::Separator;
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Nothing {}
    ///
    /// let add = ClosureTool::new("add", "Adds.", |_: Nothing| 1)?;
    /// let mut registry = ToolRegistry::from_tools([add])?;
    /// registry.update_namespace("math", false, Separator::Dash)?;
    /// assert_eq!(registry.names().collect::<Vec<_>>(), ["math-add"]);
    ///
    /// let mut math = registry.spinoff("math")?;
    /// math.reduce_namespaces()?;
    /// assert_eq!(math.names().collect::<Vec<_>>(), ["add"]);
    /// assert!(registry.is_empty());
    /// # Ok::<(), toolkit::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] with the nearest names if no tool is in the namespace.
    pub fn spinoff(&mut self, namespace: &str) -> Result<Self, BuildError> {
        let namespace = self.require_namespace(namespace)?;
        let inside = |tool: &dyn Tool| tool.definition().name.namespace() == Some(&namespace);
        let names = self.names_where(inside);
        let mut part = self.subset(&names);
        part.problems = Vec::new();
        let mut rest = self.subset(&self.names_where(|tool| !inside(tool)));
        rest.switches = self.switches.for_tools(|name| !names.contains(name));
        rest.problems = std::mem::take(&mut self.problems);
        *self = rest;
        Ok(part)
    }

    /// Replaces the tools of a namespace, for instance when a server announces changed tools.
    ///
    /// Missing tools are removed, known ones replaced (behind an [override](Self::override_tool), if there is one), and
    /// new ones added. Rules for tools, the namespace or tags stay.
    ///
    /// ```
    /// use toolkit::{ClosureTool, ToolRegistry};
    /// use toolkit::name::Separator;
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Nothing {}
    ///
    /// let tool = |name| ClosureTool::new(name, "", |_: Nothing| 1);
    /// let mut registry = ToolRegistry::new();
    /// registry.replace_namespace("shop", [tool("buy")?, tool("sell")?], Separator::Dash)?;
    /// registry.replace_namespace("shop", [tool("buy")?, tool("rent")?], Separator::Dash)?;
    /// assert_eq!(registry.names().collect::<Vec<_>>(), ["shop-buy", "shop-rent"]);
    /// # Ok::<(), toolkit::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] with every illegal or duplicate new name; the registry is then unchanged.
    pub fn replace_namespace<T: Tool + 'static>(
        &mut self,
        namespace: &str,
        tools: impl IntoIterator<Item = T>,
        separator: Separator,
    ) -> Result<(), BuildError> {
        let mut coming = Self::from_tools(tools)?;
        coming.rename_all(|name| inside(name, namespace, separator))?;
        let namespace = normalize(namespace);
        let mut changed = self.clone();
        let earlier = changed.names_where(|tool| tool.definition().name.namespace() == Some(&namespace));
        let earlier: Vec<String> = earlier.into_iter().map(str::to_owned).collect();
        for name in earlier.iter().filter(|name| coming.get_any(name).is_none()) {
            changed.remove(name);
        }
        let overridden: Vec<String> = changed.overridden().map(str::to_owned).collect();
        for name in overridden {
            // The override stays; `restore` brings the new tool.
            if let Some(tool) = coming.get_any(&name).cloned() {
                coming.remove(&name);
                changed.overridden.insert(name.into(), tool);
            }
        }
        changed.merge_with(coming, Collision::Replace)?;
        *self = changed;
        Ok(())
    }

    /// Removes the namespace from all names if there is only one. Returns whether it did.
    ///
    /// # Errors
    /// [`BuildError`] with every duplicate new name; the registry is then unchanged.
    pub fn reduce_namespaces(&mut self) -> Result<bool, BuildError> {
        let namespaces: BTreeSet<&str> =
            self.all_definitions().filter_map(|definition| definition.name.namespace()).collect();
        if namespaces.len() != 1 {
            return Ok(false);
        }
        self.rename_all(|name| match name.namespace() {
            Some(_) => name.requalify(None, Separator::default()),
            None => Ok(name.clone()),
        })?;
        Ok(true)
    }

    /// Renames every tool, or none if a new name is illegal or taken.
    fn rename_all(
        &mut self,
        rename: impl Fn(&ToolName) -> Result<ToolName, NameError>,
    ) -> Result<(), BuildError> {
        let mut renamed = self.subset(&BTreeSet::new());
        let mut takers: BTreeMap<ToolName, &Arc<dyn Tool>> = BTreeMap::new();
        let mut problems = Vec::new();
        for tool in self.all_tools_sorted() {
            let definition = tool.definition();
            let defined_at = definition.metadata.defined_at;
            let name = match rename(&definition.name) {
                Ok(name) => name,
                Err(error) => {
                    problems.push(BuildProblem::IllegalName { error, defined_at });
                    continue;
                }
            };
            if let Some(first) = takers.insert(name.clone(), tool) {
                let first = first.definition().metadata.defined_at;
                problems.push(BuildProblem::DuplicateName {
                    name: name.to_string(),
                    first,
                    second: defined_at,
                });
                continue;
            }
            renamed.switches.rename(&self.switches, definition, &name);
            renamed.place(under(tool, &name));
            if let Some(original) = self.overridden.get(definition.name.as_str()) {
                renamed.overridden.insert(name.as_str().into(), under(original, &name));
            }
        }
        BuildError::unless_empty(problems)?;
        *self = renamed;
        Ok(())
    }
}

/// Returns the tool's name in a namespace; separators in its method name stay.
pub(super) fn inside(name: &ToolName, namespace: &str, separator: Separator) -> Result<ToolName, NameError> {
    let method = if name.namespace().is_some() { name.method_name() } else { name.as_str() };
    ToolName::qualified(namespace, method, separator)
}

/// Returns the tool under a name, possibly its own.
fn under(tool: &Arc<dyn Tool>, name: &ToolName) -> Arc<dyn Tool> {
    if tool.definition().name == *name {
        return tool.clone();
    }
    Arc::new(AdaptedTool::of(tool.clone()).with_name(name.clone()))
}
