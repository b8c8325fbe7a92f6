//! The registry: a program's tools, indexed by name.

mod call;
mod call_reason;
mod change;
pub(crate) mod discover;
mod enable;
mod filter;
mod into_arguments;
mod live;
mod merge;
mod namespaces;
mod render;
mod search;
mod source;
mod switches;
mod view;

pub use discover::{Discovery, NameClash};
pub use filter::{TagMatch, ToolFilter};
pub use into_arguments::IntoArguments;
pub use live::{CheckOutcome, LiveRegistry, RegistryChange, RegistryEvent, RegistryEvents};
pub use merge::Collision;
pub use source::RegistrySource;
pub use view::RegistryView;

use crate::context::{State, StateNeed};
use crate::error::{BuildError, BuildProblem, ToolFault};
use crate::format::ToolFormat;
use crate::name::{ToolName, WireNames};
use crate::search::SearchOptions;
use crate::tool::{ProvidedTool, Tool, ToolDefinition, ToolProvider, Toolset};
use foldhash::fast::RandomState;
use render::RenderCache;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use switches::Switches;

/// A registry of a program's tools, indexed by name.
///
/// Clones share the tools, but each clone can be changed independently.
///
/// Tool names are unique. Registering a second tool under the same name fails with a [`BuildError`], and the
/// error shows where both tools are defined.
///
/// ```
/// use toolkit::{Tool, ToolRegistry};
///
/// let registry = ToolRegistry::new();
/// assert!(registry.get("add").is_none());
/// assert_eq!(registry.len(), 0);
/// ```
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: HashMap<Arc<str>, Entry, RandomState>,
    switches: Switches,
    timeout: Option<Duration>,
    state: Option<Arc<State>>,
    call_reason: bool,
    /// Whether a provider refuses the name of a parameter, and so gets another spelling.
    respells: bool,
    search: Option<Arc<SearchOptions>>,
    /// Problems recorded by `+` and `+=`, such as duplicate names. Operators cannot return errors, so `check`
    /// reports the problems later.
    problems: Vec<BuildProblem>,
    cache: RenderCache,
}

/// A registered tool, with the registry's settings for the tool.
#[derive(Clone)]
struct Entry {
    tool: Arc<dyn Tool>,
    /// The reason why the tool is disabled; `None` if the tool is enabled.
    disabled: Option<Arc<str>>,
    /// The original tool, while `tool` overrides it. `restore` brings the original back.
    original: Option<Arc<dyn Tool>>,
}

impl Entry {
    fn name(&self) -> &ToolName {
        &self.tool.definition().name
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

    /// Creates a registry from tools, for instance from the array built by [`tools!`](crate::tools).
    ///
    /// # Errors
    /// Returns a [`BuildError`] listing every illegal or duplicate name.
    pub fn from_tools<T: Tool + 'static>(tools: impl IntoIterator<Item = T>) -> Result<Self, BuildError> {
        let mut registry = Self::new();
        for tool in tools {
            registry.insert_or_record(Arc::new(tool));
        }
        registry.check().map(|()| registry)
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the tool's name is illegal or already taken. The registry is then
    /// unchanged.
    pub fn register(&mut self, tool: impl Tool + 'static) -> Result<(), BuildError> {
        self.try_insert(Arc::new(tool)).map(drop).map_err(BuildError::from)
    }

    /// Adds all tools of a [`Toolset`].
    ///
    /// # Errors
    /// Returns a [`BuildError`] listing every illegal or already taken name. The registry is then unchanged.
    pub fn register_all(&mut self, toolset: Arc<impl Toolset>) -> Result<(), BuildError> {
        let mut added = Self::new();
        toolset.tools().into_iter().for_each(|tool| added.insert_or_record(tool));
        self.merge(added)
    }

    /// Adds the current tools of a [tool provider](ToolProvider).
    ///
    /// The registry does not follow later changes of the provider. After a change, register the provider's
    /// tools again, for instance with [`replace_namespace`](Self::replace_namespace).
    ///
    /// # Errors
    /// Returns a [`BuildError`] listing every illegal or already taken name. The registry is then unchanged.
    pub fn register_provider(&mut self, provider: impl ToolProvider) -> Result<(), BuildError> {
        self.merge(Self::from_tools(ProvidedTool::all(provider))?)
    }

    /// Sets the default time limit of each call. The limits of the tool and of the dispatcher take
    /// precedence.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Returns the default time limit of each call; `None` if no default is set.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Adds a value to the state for the tools. Parameters marked with `#[state]` and
    /// [`ToolContext::state`](crate::ToolContext::state) find the value by type.
    ///
    /// If the program already has the value in an `Arc`, use [`with_shared_state`](Self::with_shared_state). Tools
    /// [merged](Self::merge_with) from a registry with its own state do not find the value, unless they require state
    /// of this type.
    #[must_use]
    pub fn with_state<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_shared_state(Arc::new(value))
    }

    /// Adds a value in an `Arc`, possibly a trait object, to the state shared by all tools.
    ///
    /// See [`with_state`](Self::with_state).
    #[must_use]
    pub fn with_shared_state<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        let state = self.state.take().map(Arc::unwrap_or_clone).unwrap_or_default();
        self.state = Some(Arc::new(state.with_shared(value)));
        self
    }

    /// Declares that the [run](crate::RunContext::with_state) of each call adds state of type `T`.
    ///
    /// Tools can then have a parameter `#[state] user: &User` although the registry has no value of this
    /// type. The value differs from call to call, for instance in a server. A call fails if its run does not
    /// provide the value.
    ///
    /// ```
    /// use toolkit::{ClosureTool, Dispatcher, RunContext, ToolCall, ToolContext, ToolRegistry};
    ///
    /// struct User(&'static str);
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Nothing {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let who = ClosureTool::with_context("who", "Tells the name.", |_: Nothing, context: ToolContext| {
    ///     context.state::<User>().map(|user| user.0)
    /// })?;
    /// let registry = ToolRegistry::from_tools([who])?.with_run_state::<User>();
    /// let dispatcher = Dispatcher::new(registry)?.with_run(RunContext::new().with_state(User("Ada")));
    /// let results = dispatcher.dispatch([ToolCall::new("call_1", "who", "{}")]).await;
    /// assert_eq!(results[0].to_text(), "Ada");
    /// # Ok::<(), toolkit::BuildError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_run_state<T: ?Sized + Send + Sync + 'static>(mut self) -> Self {
        let state = self.state.take().map(Arc::unwrap_or_clone).unwrap_or_default();
        self.state = Some(Arc::new(state.with_run_state::<T>()));
        self
    }

    pub(crate) fn state(&self) -> Option<&Arc<State>> {
        self.state.as_ref()
    }

    /// Checks that the registry can serve calls: no name collisions, no missing state, no reserved names and
    /// no reserved parameters.
    pub(crate) fn check_complete(&self) -> Result<(), BuildError> {
        let mut problems = self.problems.clone();
        for Entry { tool, .. } in self.entries() {
            problems.extend(self.missing_state(tool.definition()).map(|(_, problem)| problem));
        }
        problems.extend(self.reserved_parameters());
        problems.extend(self.reserved_names());
        BuildError::unless_empty(problems)
    }

    /// Returns the state types that the tool needs but the registry lacks, each with the problem to report. Optional
    /// state is a problem only inside of a pointer, where the tool would not find it.
    fn missing_state<'a>(
        &'a self,
        definition: &'a ToolDefinition,
    ) -> impl Iterator<Item = (&'static str, BuildProblem)> + 'a {
        let state = self.state.as_deref();
        let is_missing = move |need: &&StateNeed| !need.is_met && !state.is_some_and(|state| state.has(need));
        definition.state_needs().iter().filter(is_missing).filter_map(move |need| {
            let within = state.and_then(|state| state.pointer_around(need)).or(need.within);
            let type_name = need.type_name();
            let problem = || definition.problem(ToolFault::MissingState { type_name, within });
            (!need.is_optional() || within.is_some()).then(|| (type_name, problem()))
        })
    }

    /// Checks for problems recorded by `+` and `+=`, such as duplicate names. Of two tools with the same
    /// name, the registry keeps the earlier tool.
    ///
    /// # Errors
    /// Returns a [`BuildError`] listing every recorded problem.
    pub fn check(&self) -> Result<(), BuildError> {
        BuildError::unless_empty(self.problems.clone())
    }

    /// Returns the number of callable tools. Disabled tools are not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.values().filter(|entry| entry.is_callable()).count()
    }

    /// Returns `true` if the registry has no callable tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the callable tool named `name`.
    ///
    /// `name` may also be a provider's [spelling](crate::name::WireNames) of a tool name or, with tool search
    /// on, the name of a search tool.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let by_spelling = || self.callable(&self.cache.original(self, name)?);
        self.callable(name).or_else(|| self.search_tool(name)).or_else(by_spelling)
    }

    /// Returns the callable tool named exactly `name`.
    #[inline]
    fn callable(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).filter(|entry| entry.is_callable()).map(|entry| &entry.tool)
    }

    /// Returns the callable tools, sorted by name.
    ///
    /// This method skips [disabled](Self::disabled) tools. All other methods skip disabled tools as well,
    /// unless the documentation of a method says otherwise.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.cache.sorted(self).iter()
    }

    /// Returns the definitions of the callable tools, sorted by name.
    pub fn iter_definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.iter().map(Tool::definition)
    }

    /// Renders the tool definitions of a request in the given format, sorted by name.
    ///
    /// For an `ApiFormat`, the result also lists the parts of the definitions that the format cannot express.
    /// The result is cached. After a change of the registry, only the changed tools are rendered again.
    ///
    /// ```
    /// use toolkit::wire::{DefinitionOptions, StrictTools};
    /// use toolkit::{ApiFormat, ToolRegistry};
    ///
    /// let strict = DefinitionOptions::default().with_strict(StrictTools::All);
    /// let tools = ToolRegistry::new().definitions(ApiFormat::Anthropic.with_options(strict));
    /// assert_eq!(tools.as_json(), "[]");
    /// ```
    #[must_use]
    pub fn definitions<F: ToolFormat>(&self, format: F) -> F::Rendered {
        self.cache.definitions(self, format)
    }

    /// Returns the spelling of each tool name in `format`. Requests and histories written by hand need these
    /// spellings.
    #[must_use]
    pub fn wire_names(&self, format: &impl ToolFormat) -> WireNames {
        self.cache.names(self, format.name_rule())
    }

    /// Returns the sorted names of the callable tools.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.iter_definitions().map(|definition| definition.name.as_str())
    }

    /// Returns `true` if [`get`](Self::get) finds a callable tool for `name`.
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

/// Lists `#[tool]` functions as an array of [`FunctionTool`](crate::FunctionTool)s.
///
/// Listed tools are always found. [`ToolRegistry::discover`], in contrast, misses the tools of a crate that the program
/// mentions nowhere, because the linker drops this crate.
///
/// ```ignore
/// let registry = ToolRegistry::from_tools(tools![add, search::search_web])?;
/// ```
#[macro_export]
macro_rules! tools {
    () => {{
        let none: [$crate::FunctionTool; 0] = [];
        none
    }};
    ($($tool:path),* $(,)?) => {
        [$(<$tool>::tool()),*]
    };
}
