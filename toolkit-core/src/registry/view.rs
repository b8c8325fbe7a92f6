//! Views of a registry: its tools with other names, metadata and arguments.

use super::namespaces::inside;
use super::switches::Switches;
use super::{ToolFilter, ToolRegistry};
use crate::definition::{AdaptedTool, Tool, ToolDefinition, ToolMetadata};
use crate::error::{BuildError, BuildProblem};
use crate::name::{NameError, Separator, ToolName};
use std::fmt;
use std::sync::Arc;

/// Selects tools of a registry, with other names, metadata and arguments.
///
/// Each builder method adds a step, which sees the tools as changed by the steps before. Tools are shared,
/// not copied. A view of a [live registry](super::LiveRegistry) is a view of its snapshot.
///
/// ```
/// use toolkit_ai::{ArgumentTransform, ClosureTool, RegistryView, ToolFilter, ToolRegistry};
/// use toolkit_ai::name::Separator;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Page { url: String, depth: u8 }
///
/// let tool = |name| ClosureTool::new(name, "", |page: Page| page.url);
/// let registry = ToolRegistry::from_tools([tool("get_page")?, tool("delete_page")?])?;
/// let view = RegistryView::new()
///     .filter(ToolFilter::new().exclude(["delete_*"])?)
///     .rename("get_page", "open")
///     .adapt("open", |tool| tool.with_arguments([ArgumentTransform::new("depth").fixed(1)]))
///     .in_namespace("web", Separator::Dash)
///     .map_metadata(|_, metadata| metadata.with_read_only(true));
/// assert_eq!(registry.viewed(&view)?.names().collect::<Vec<_>>(), ["web-open"]);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone, Default)]
pub struct RegistryView {
    steps: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    Filter(ToolFilter),
    /// Changes the tool with this name, or every tool.
    Adapt(Option<String>, Arc<Adapt>),
}

type Adapt = dyn Fn(AdaptedTool) -> Result<AdaptedTool, BuildError> + Send + Sync;

fn renamed(name: Result<ToolName, NameError>, tool: AdaptedTool) -> Result<AdaptedTool, BuildError> {
    match name {
        Ok(name) => Ok(tool.with_name(name)),
        Err(error) => Err(tool.definition().illegal_name(error).into()),
    }
}

impl RegistryView {
    /// Creates a view of all tools, unchanged.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Keeps only tools passing the filter. The view fails if it includes a name without its namespace.
    #[must_use]
    pub fn filter(self, filter: ToolFilter) -> Self {
        self.step(Step::Filter(filter))
    }

    /// Moves every tool into a namespace, which is [normalised](crate::name::normalize).
    #[must_use]
    pub fn in_namespace(self, namespace: impl Into<String>, separator: Separator) -> Self {
        let namespace = namespace.into();
        self.rename_all(move |name| inside(name, &namespace, separator))
    }

    /// Renames the tool `name` to `to`. The view fails without such a tool.
    #[must_use]
    pub fn rename(self, name: impl Into<String>, to: impl Into<String>) -> Self {
        let to = to.into();
        self.adapt(name, move |tool| renamed(ToolName::new(&to), tool))
    }

    /// Renames every tool. `rename` gets the current name and returns the new one.
    #[must_use]
    pub fn rename_all(
        self,
        rename: impl Fn(&ToolName) -> Result<ToolName, NameError> + Send + Sync + 'static,
    ) -> Self {
        self.adapt_all(move |tool| renamed(rename(&tool.definition().name), tool))
    }

    /// Changes the metadata of every tool.
    #[must_use]
    pub fn map_metadata(
        self,
        change: impl Fn(&ToolDefinition, ToolMetadata) -> ToolMetadata + Send + Sync + 'static,
    ) -> Self {
        self.adapt_all(move |tool| {
            let metadata = change(tool.definition(), tool.definition().metadata.clone());
            Ok(tool.map_metadata(|_| metadata))
        })
    }

    /// Changes the tool `name`, for instance its description or [arguments](AdaptedTool::with_arguments).
    /// The view fails without such a tool.
    #[must_use]
    pub fn adapt(
        self,
        name: impl Into<String>,
        change: impl Fn(AdaptedTool) -> Result<AdaptedTool, BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.step(Step::Adapt(Some(name.into()), Arc::new(change)))
    }

    /// Changes every tool.
    #[must_use]
    pub fn adapt_all(
        self,
        change: impl Fn(AdaptedTool) -> Result<AdaptedTool, BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.step(Step::Adapt(None, Arc::new(change)))
    }

    /// Applies the steps to all tools of `registry`. A tool with a failed step or a taken name is left out,
    /// and a problem recorded.
    fn project(&self, registry: &ToolRegistry) -> ToolRegistry {
        let mut shown = registry.subset(|_| false);
        // Namespace and tag rules refer to the original names, so each disabled tool gets a rule for the
        // new name.
        shown.switches = Switches::default();
        let entries = registry.entries().into_iter();
        let mut tools: Vec<_> = entries.map(|entry| (entry.tool.clone(), entry.disabled.clone())).collect();
        for step in &self.steps {
            let names: Vec<&ToolName> = tools.iter().map(|(tool, _)| &tool.definition().name).collect();
            match step {
                Step::Filter(filter) => {
                    shown.problems.extend(filter.bare_names(&names));
                    tools.retain(|(tool, _)| filter.matches(tool.definition()));
                }
                Step::Adapt(only, change) => {
                    if let Some(name) = only
                        && !names.iter().any(|known| known.as_str() == name)
                    {
                        shown.problems.push(BuildProblem::unknown_tool("tool", name, names));
                    }
                    let mut kept = Vec::with_capacity(tools.len());
                    for (tool, disabled) in tools {
                        if let Some(name) = only
                            && tool.definition().name.as_str() != name
                        {
                            kept.push((tool, disabled));
                            continue;
                        }
                        match change(AdaptedTool::from_arc(tool)) {
                            Ok(changed) => {
                                let adapted: Arc<dyn Tool> = Arc::new(changed);
                                kept.push((adapted, disabled));
                            }
                            Err(error) => shown.problems.extend(error.problems().iter().cloned()),
                        }
                    }
                    tools = kept;
                }
            }
        }
        for (tool, disabled) in tools {
            let name = tool.definition().name.as_str();
            if let (None, Some(reason)) = (shown.get_any(name), disabled) {
                shown.switches.tools.insert(name.into(), Some(reason));
            }
            shown.insert_or_record(tool);
        }
        shown
    }
}

impl ToolRegistry {
    /// Applies a [view](RegistryView), keeping state, time limit and disabled tools.
    ///
    /// # Errors
    /// A tool is missing, a new name is illegal or duplicate, or a step fails.
    pub fn viewed(&self, view: &RegistryView) -> Result<Self, BuildError> {
        let shown = view.project(self);
        shown.check().map(|()| shown)
    }
}

impl fmt::Debug for RegistryView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryView").field("steps", &self.steps.len()).finish()
    }
}
