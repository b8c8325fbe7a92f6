//! The registry: a program's tools, indexed by name.

mod change;
pub(crate) mod discover;
mod enable;
mod filter;
mod into_arguments;
mod live;
mod merge;
mod namespaces;
mod program_state;
mod render;
mod resolve;
mod source;
mod switches;
mod synced_tools;
mod tool_search;
mod view;

pub use discover::{Discovery, NameClash};
pub use filter::{TagMatch, ToolFilter};
pub use into_arguments::IntoArguments;
pub use live::{CheckOutcome, LiveRegistry, RegistryChange, RegistryEvent, RegistryEvents};
pub use merge::Collision;
pub(crate) use resolve::{Rewritten, Target};
pub use source::{IntoRegistrySource, RegistrySource};
pub use synced_tools::SyncedTools;
pub use view::RegistryView;

use crate::context::State;
use crate::definition::{
    CALL_REASON, ProvidedTool, Tool, ToolDefinition, ToolProvider, asks_for_call_reason,
    has_call_reason_parameter, has_refused_parameter,
};
use crate::error::{BuildError, BuildProblem, ToolFault};
use crate::format::ToolFormat;
use crate::name::{Separator, ToolName, WireNames, check_name};
use foldhash::fast::RandomState;
use render::RenderCache;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use switches::Switches;
use tool_search::ToolSearch;

/// A registry of a program's tools, indexed by name.
///
/// Clones share the tools, but each can be changed independently.
///
/// Tool names are unique. A second tool of the same name is a [`BuildError`] that shows where both are
/// defined.
///
/// ```
/// use toolkit_ai::{Tool, ToolRegistry};
///
/// let registry = ToolRegistry::new();
/// assert!(registry.get("add").is_none());
/// assert_eq!(registry.len(), 0);
/// ```
#[doc(alias("ToolSet", "toolbox", "ToolRouter"))]
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: ToolMap,
    switches: Switches,
    timeout: Option<Duration>,
    state: Option<Arc<State>>,
    call_reason: bool,
    /// Whether a provider refuses, and so respells, a parameter's name.
    respells: bool,
    search: Option<ToolSearch>,
    /// Problems of collected tools, such as duplicate names, for `check`.
    problems: Vec<BuildProblem>,
    cache: RenderCache,
}

type ToolMap = HashMap<Arc<str>, RegisteredTool, RandomState>;

/// A registered tool, with the registry's settings for it.
#[derive(Clone)]
struct RegisteredTool {
    tool: Arc<dyn Tool>,
    /// The reason why the tool is disabled, if it is.
    disabled: Option<Arc<str>>,
    /// The original tool, while `tool` overrides it.
    original: Option<Arc<dyn Tool>>,
}

impl RegisteredTool {
    fn name(&self) -> &ToolName {
        &self.tool.definition().name
    }

    fn is_in(&self, namespace: &str) -> bool {
        self.name().namespace() == Some(namespace)
    }

    fn is_callable(&self) -> bool {
        self.disabled.is_none()
    }
}

impl ToolRegistry {
    /// Creates an empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a registry from tools, such as the array built by [`tools!`](crate::tools).
    /// [`register_all`](Self::register_all) adds tools of other sources, such as a client.
    ///
    /// # Errors
    /// A name is illegal or duplicate.
    pub fn from_tools<T: Tool + 'static>(tools: impl IntoIterator<Item = T>) -> Result<Self, BuildError> {
        let registry = Self::recording(tools);
        registry.check().map(|()| registry)
    }

    /// Creates a registry. [`check`](Self::check) reports its problems.
    fn recording<T: Tool + 'static>(tools: impl IntoIterator<Item = T>) -> Self {
        let mut registry = Self::new();
        for tool in tools {
            registry.insert_or_record(Arc::new(tool));
        }
        registry
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// The tool's name is illegal or taken. The registry is then unchanged.
    pub fn register(&mut self, tool: impl Tool + 'static) -> Result<(), BuildError> {
        self.try_insert(Arc::new(tool)).map(drop).map_err(BuildError::from)
    }

    /// Inserts a tool. Fails if its name is illegal or taken, or its schema has a fault.
    fn try_insert(&mut self, tool: Arc<dyn Tool>) -> Result<&mut RegisteredTool, BuildProblem> {
        let name = &tool.definition().name;
        check_name(name.as_str()).map_err(|error| tool.definition().illegal_name(error))?;
        if let Some(problem) = tool.definition().schema_fault() {
            return Err(problem);
        }
        if let Some(first) = self.get_any(name.as_str()) {
            return Err(first.definition().duplicated_by(tool.definition()));
        }
        Ok(self.insert(tool))
    }

    /// Inserts a tool, or records the problem for [`check`](Self::check).
    fn insert_or_record(&mut self, tool: Arc<dyn Tool>) {
        if let Err(problem) = self.try_insert(tool) {
            self.problems.push(problem);
        }
    }

    /// Inserts a tool, replacing one of the same name. The original of an override is kept for `restore`.
    fn insert(&mut self, tool: Arc<dyn Tool>) -> &mut RegisteredTool {
        let definition = tool.definition();
        let disabled = self.switches.reason(definition).cloned();
        let name = definition.name.as_str().into();
        self.respells |= has_refused_parameter(definition);
        self.cache = self.cache.renewed();
        let entry = self.tools.entry(name).or_insert_with(|| RegisteredTool {
            tool: tool.clone(),
            disabled: None,
            original: None,
        });
        (entry.tool, entry.disabled) = (tool, disabled);
        entry
    }

    /// Adds all tools that a source has now.
    ///
    /// The source is a [`Toolset`](crate::Toolset) in an `Arc`, a list, a client of an MCP server, an
    /// OpenAPI document, a fleet, or another registry, which is [merged](Self::merge).
    ///
    /// # Errors
    /// A name is illegal or taken. The registry is then unchanged.
    pub fn register_all(&mut self, tools: impl IntoRegistrySource) -> Result<(), BuildError> {
        self.merge(Arc::unwrap_or_clone(tools.into_registry_source().snapshot()))
    }

    /// Adds all tools of a source under another namespace, for example of a second value of one toolset
    /// type.
    ///
    /// # Errors
    /// The errors of [`register_all`](Self::register_all), or `namespace` is illegal.
    pub fn register_all_in(
        &mut self,
        namespace: &str,
        tools: impl IntoRegistrySource,
    ) -> Result<(), BuildError> {
        let mut added = Self::new();
        added.register_all(tools)?;
        added.update_namespace(namespace, true, Separator::default())?;
        self.merge(added)
    }

    /// Adds the current tools of a [tool provider](ToolProvider).
    ///
    /// The registry does not follow later changes. After a change, register the tools again, for instance
    /// with [`replace_namespace`](Self::replace_namespace).
    ///
    /// # Errors
    /// A name is illegal or taken. The registry is then unchanged.
    pub fn register_provider(&mut self, provider: impl ToolProvider) -> Result<(), BuildError> {
        self.merge(Self::from_tools(ProvidedTool::all(provider))?)
    }

    /// Sets the default time limit of each call. The limits of the tool and the dispatcher take precedence.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Returns the default time limit of each call, if set.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Sets whether the model is asked for the reason of each call.
    ///
    /// Every tool gets the extra argument `call_reason`, unless it [opts
    /// out](crate::ToolMetadata::call_reason). The tool does not see it; the dispatcher stores it in
    /// [`ToolResult::call_reason`](crate::ToolResult::call_reason). Models asked for a reason choose tools
    /// better ([arXiv 2601.18282](https://arxiv.org/abs/2601.18282)).
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, ToolRegistry};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Add { a: i64, b: i64 }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let add = ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b)?;
    /// let registry = ToolRegistry::from_tools([add])?.with_call_reason(true);
    /// let output = registry.call("add", r#"{"a": 1, "call_reason": "To sum up", "b": 2}"#).await?;
    /// assert_eq!(output.to_text(), "3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_call_reason(mut self, call_reason: bool) -> Self {
        self.call_reason = call_reason;
        self.cache = self.cache.renewed();
        self
    }

    /// Checks that the registry can serve calls: no recorded problems, missing state, or reserved names and
    /// parameters.
    pub(crate) fn check_complete(&self) -> Result<(), BuildError> {
        let mut problems = self.problems.clone();
        for RegisteredTool { tool, .. } in self.entries() {
            problems.extend(self.missing_state(tool.definition()).map(|(_, problem)| problem));
        }
        problems.extend(self.reserved_parameters());
        problems.extend(self.reserved_names());
        BuildError::unless_empty(problems)
    }

    /// Returns a problem for each tool with an own parameter `call_reason`, if the registry asks for a call
    /// reason.
    fn reserved_parameters(&self) -> Vec<BuildProblem> {
        let mut problems = Vec::new();
        for tool in self.iter_definitions() {
            if asks_for_call_reason(tool, self.call_reason) && has_call_reason_parameter(tool) {
                problems.push(tool.problem(ToolFault::ReservedParameter { parameter: CALL_REASON }));
            }
        }
        problems
    }

    /// Checks for problems of collected tools, as by `+` and `+=`. Of two tools with one name, the registry
    /// keeps the earlier.
    ///
    /// # Errors
    /// All recorded problems.
    pub fn check(&self) -> Result<(), BuildError> {
        BuildError::unless_empty(self.problems.clone())
    }

    /// Returns the number of callable tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.values().filter(|entry| entry.is_callable()).count()
    }

    /// Returns `true` if there are no callable tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the callable tool named `name`.
    ///
    /// `name` may also be a provider's [spelling](crate::name::WireNames) or, with tool search on, a search
    /// tool's name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        if let Some(tool) = self.callable(name) {
            return Some(tool);
        }
        if let Some(tool) = self.search_tool(name) {
            return Some(tool);
        }
        self.callable(&self.cache.original(self, name)?)
    }

    /// Returns the callable tool named exactly `name`.
    #[inline]
    fn callable(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).filter(|entry| entry.is_callable()).map(|entry| &entry.tool)
    }

    /// Returns the callable tools, sorted by name.
    ///
    /// It skips [disabled](Self::disabled) tools, as all methods do unless they say otherwise.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.cache.sorted(self).iter()
    }

    /// Returns the callable tools' definitions, sorted by name.
    pub fn iter_definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.iter().map(Tool::definition)
    }

    /// Renders the tool definitions of a request in `format`, sorted by name.
    ///
    /// For an `ApiFormat`, the result also lists what the format cannot express. It is cached: after a
    /// change, only the changed tools are rendered again.
    ///
    /// ```
    /// use toolkit_ai::llm::{DefinitionOptions, StrictTools};
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::ToolRegistry;
    ///
    /// let strict = DefinitionOptions::default().with_strict(StrictTools::All);
    /// let tools = ToolRegistry::new().definitions(ApiFormat::Anthropic.with_options(strict));
    /// assert_eq!(tools.as_json(), "[]");
    /// ```
    #[must_use]
    pub fn definitions<F: ToolFormat>(&self, format: F) -> F::Rendered {
        self.cache.definitions(self, format)
    }

    /// Returns the spelling of each tool name in `format`, for requests and histories written by hand.
    #[must_use]
    pub fn wire_names(&self, format: &impl ToolFormat) -> WireNames {
        self.cache.names(self, format.name_rule())
    }

    /// Returns the sorted names of the callable tools.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.iter_definitions().map(|definition| definition.name.as_str())
    }

    /// Returns whether [`get`](Self::get) finds a callable tool.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

impl fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&ToolName> = self.iter_definitions().map(|definition| &definition.name).collect();
        f.debug_struct("ToolRegistry").field("tools", &names).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(feature = "jsonschema")))]
mod tests;
