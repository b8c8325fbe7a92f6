//! A registry seen otherwise: some of its tools, under other names, with other metadata and arguments.

use super::namespaces::inside;
use super::switches::Switches;
use super::{ToolFilter, ToolRegistry};
use crate::error::{BuildError, BuildProblem};
use crate::name::{NameError, Separator, ToolName};
use crate::tool::{AdaptedTool, Tool, ToolDefinition, ToolMetadata};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// How a registry is seen: which of its tools, under which names, with which metadata and arguments.
///
/// The steps are taken in the order in which they are said; each speaks of the tools as the steps before it have left
/// them. The tools are shared, not copied.
///
/// ```
/// use toolkit::{ArgumentTransform, FunctionTool, LiveRegistry, RegistryView, ToolFilter, ToolRegistry};
/// use toolkit::name::Separator;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Page { url: String, depth: u8 }
///
/// let tool = |name| ClosureTool::new(name, "", |page: Page| page.url);
/// let registry = ToolRegistry::from_tools([tool("get_page")?, tool("delete_page")?])?;
/// let view = RegistryView::new()
///     .filter(ToolFilter::new().exclude(["delete_*"]))
///     .rename("get_page", "open")
///     .adapt("open", |tool| tool.with_arguments([ArgumentTransform::of("depth").fixed(1)]))
///     .in_namespace("web", Separator::Dash)
///     .map_metadata(|_, metadata| metadata.with_read_only(true));
/// assert_eq!(registry.viewed(&view)?.names().collect::<Vec<_>>(), ["web-open"]);
///
/// let live = LiveRegistry::new(registry)?;
/// let shown = live.viewed(view)?;
/// live.change(|registry| registry.register(tool("find")?))?;
/// assert_eq!(shown.snapshot().names().collect::<Vec<_>>(), ["web-find", "web-open"]);
/// # Ok::<(), toolkit::BuildError>(())
/// ```
#[derive(Clone, Default)]
pub struct RegistryView {
    steps: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    Filter(ToolFilter),
    Rename(Arc<Rename>),
    Adapt(Arc<Adapt>),
    /// One tool only.
    RenameOne(String, String),
    AdaptOne(String, Arc<Adapt>),
}

type Rename = dyn Fn(&ToolName) -> Result<ToolName, NameError> + Send + Sync;
type Adapt = dyn Fn(AdaptedTool) -> Result<AdaptedTool, BuildError> + Send + Sync;

impl RegistryView {
    /// All tools as they are.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Only the tools that pass the filter.
    #[must_use]
    pub fn filter(self, filter: ToolFilter) -> Self {
        self.step(Step::Filter(filter))
    }

    /// Puts every tool into a namespace, which is [normalised](crate::name::normalize), instead of the one it is in.
    #[must_use]
    pub fn in_namespace(self, namespace: impl Into<String>, separator: Separator) -> Self {
        let namespace = namespace.into();
        self.rename_all(move |name| inside(name, &namespace, separator))
    }

    /// Gives one tool another name. That there is no such tool is an error.
    #[must_use]
    pub fn rename(self, name: impl Into<String>, to: impl Into<String>) -> Self {
        self.step(Step::RenameOne(name.into(), to.into()))
    }

    /// Gives every tool the name that the function makes of its own.
    #[must_use]
    pub fn rename_all(
        self,
        rename: impl Fn(&ToolName) -> Result<ToolName, NameError> + Send + Sync + 'static,
    ) -> Self {
        self.step(Step::Rename(Arc::new(rename)))
    }

    /// Changes the metadata of every tool.
    #[must_use]
    pub fn map_metadata(
        self,
        change: impl Fn(&ToolDefinition, ToolMetadata) -> ToolMetadata + Send + Sync + 'static,
    ) -> Self {
        self.adapt_all(move |tool| {
            let definition = tool.definition().clone();
            Ok(tool.map_metadata(|metadata| change(&definition, metadata)))
        })
    }

    /// Changes one tool, for instance its description or its [arguments](AdaptedTool::with_arguments). That there
    /// is no such tool is an error.
    #[must_use]
    pub fn adapt(
        self,
        name: impl Into<String>,
        change: impl Fn(AdaptedTool) -> Result<AdaptedTool, BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.step(Step::AdaptOne(name.into(), Arc::new(change)))
    }

    /// Changes every tool.
    #[must_use]
    pub fn adapt_all(
        self,
        change: impl Fn(AdaptedTool) -> Result<AdaptedTool, BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.step(Step::Adapt(Arc::new(change)))
    }

    /// The tool as it is seen; `None` if it is not. `seen` learns its name at each step.
    fn of_tool(
        &self,
        tool: &Arc<dyn Tool>,
        mut seen: impl FnMut(usize, &ToolName),
    ) -> Result<Option<Arc<dyn Tool>>, BuildError> {
        let mut adapted = AdaptedTool::of(tool.clone());
        let mut changed = false;
        for (index, step) in self.steps.iter().enumerate() {
            let definition = adapted.definition();
            let own_name = &definition.name;
            seen(index, own_name);
            let illegal = |error| {
                BuildError::from(BuildProblem::IllegalName {
                    error,
                    defined_at: definition.metadata.defined_at,
                })
            };
            let name = match step {
                Step::Filter(filter) if filter.matches(definition) => continue,
                Step::Filter(_) => return Ok(None),
                Step::Rename(rename) => rename(own_name).map_err(illegal)?,
                Step::RenameOne(name, to) if name == own_name.as_str() => {
                    ToolName::new(to).map_err(illegal)?
                }
                Step::AdaptOne(name, change) if name == own_name.as_str() => {
                    (adapted, changed) = (change(adapted)?, true);
                    continue;
                }
                Step::RenameOne(..) | Step::AdaptOne(..) => continue,
                Step::Adapt(change) => {
                    (adapted, changed) = (change(adapted)?, true);
                    continue;
                }
            };
            if name != *own_name {
                (adapted, changed) = (adapted.with_name(name), true);
            }
        }
        Ok(Some(if changed { Arc::new(adapted) } else { tool.clone() }))
    }

    /// The registry as it is seen. What cannot be seen so is left out, and remembered as a problem of the registry.
    pub(super) fn of(&self, registry: &ToolRegistry, earlier: Option<&Seen>) -> Seen {
        let mut shown = registry.part(&BTreeSet::new());
        // What was said about namespaces and tags speaks of other names; what came of it is said of each tool.
        shown.switches = Switches::default();
        if let Some(earlier) = earlier {
            // What was rendered before need not be again.
            shown.cache = earlier.shown.cache.renewed();
        }
        let mut tools = BTreeMap::new();
        let mut names: Vec<BTreeSet<String>> = vec![BTreeSet::new(); self.steps.len()];
        for tool in registry.every_tool_sorted() {
            let own_name = &tool.definition().name;
            let seen = self.of_tool(tool, |step, name| {
                if let Some(names) = names.get_mut(step) {
                    names.insert(name.to_string());
                }
            });
            let known = earlier.and_then(|earlier| earlier.tools.get(own_name));
            let seen = match (seen, known) {
                (Ok(Some(_)), Some(known)) if Arc::ptr_eq(&known.tool, tool) => known.seen.clone(),
                (Ok(Some(seen)), _) => seen,
                (Ok(None), _) => continue,
                (Err(error), _) => {
                    shown.problems.extend(error.problems().iter().cloned());
                    continue;
                }
            };
            tools.insert(own_name.clone(), SeenTool { tool: tool.clone(), seen: seen.clone() });
            let name = seen.definition().name.clone();
            if shown.get_any(name.as_str()).is_none()
                && let Some(reason) = registry.disabled_reason(own_name.as_str())
            {
                shown.switches.disable(name.as_str(), reason);
            }
            shown.admit(seen);
        }
        for (step, names) in self.steps.iter().zip(&names) {
            if let Step::RenameOne(name, _) | Step::AdaptOne(name, _) = step
                && !names.contains(name)
            {
                let names = names.iter().map(String::as_str);
                shown.problems.push(BuildProblem::unknown("tool", name, names));
            }
        }
        Seen { shown: Arc::new(shown), tools }
    }
}

/// A registry as it was seen.
pub(super) struct Seen {
    pub(super) shown: Arc<ToolRegistry>,
    /// By their own names.
    tools: BTreeMap<ToolName, SeenTool>,
}

/// A tool, and how it was seen.
struct SeenTool {
    tool: Arc<dyn Tool>,
    seen: Arc<dyn Tool>,
}

impl ToolRegistry {
    /// The registry as it is seen through a [view](RegistryView), with the same state, time limit and disabled tools.
    ///
    /// # Errors
    /// [`BuildError`] with every tool that the view names and that is not there, every name that is then not legal or
    /// there twice, and everything else that a step says.
    pub fn viewed(&self, view: &RegistryView) -> Result<Self, BuildError> {
        let shown = Arc::unwrap_or_clone(view.of(self, None).shown);
        shown.check().map(|()| shown)
    }
}

impl fmt::Debug for RegistryView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryView").field("steps", &self.steps.len()).finish()
    }
}
