//! The tools of a program, by name.

mod call_reason;
mod change;
mod discover;
mod enable;
mod filter;
mod live;
mod merge;
mod namespaces;
mod registry_view;
mod render;
mod search;
mod source;
mod switches;

pub use discover::Registration;
pub use filter::{TagMatch, ToolFilter};
pub use live::{Admission, LiveRegistry, LiveView, RegistryChange, RegistryEvent, RegistryEvents};
pub use merge::Collision;
pub use registry_view::RegistryView;
pub use search::{SearchOptions, SearchWeights, ToolMatch};
pub use source::RegistrySource;

use crate::call::RawArguments;
use crate::context::{CallParts, State, StateNeed, ToolContext};
use crate::error::{BuildError, BuildProblem, ToolError};
use crate::format::ToolFormat;
use crate::name::{NameRule, ToolName, WireNames};
use crate::output::ToolOutput;
use crate::tool::{ProvidedTool, Tool, ToolDefinition, ToolProvider, Toolset, start};
use enable::Disabled;
use foldhash::fast::RandomState;
use render::RenderCache;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use switches::Switches;

/// The tools of a program, by name. Clones share the tools.
///
/// No two tools have one name: the second is refused with a [`BuildError`] that names both places.
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
    /// Those that can be called. Disabled ones are kept apart, so that a call does not pay for them.
    tools: HashMap<Arc<str>, Arc<dyn Tool>, RandomState>,
    disabled: BTreeMap<Arc<str>, Disabled>,
    switches: Switches,
    /// What stands aside for the tools of these names.
    overridden: BTreeMap<Arc<str>, Arc<dyn Tool>>,
    timeout: Option<Duration>,
    state: Option<Arc<State>>,
    call_reason: bool,
    search: Option<Arc<SearchOptions>>,
    /// Collisions found by `+` and `+=`, which cannot return them.
    problems: Vec<BuildProblem>,
    cache: RenderCache,
}

impl ToolRegistry {
    /// A registry without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A registry of these tools, as listed with [`tools!`](crate::tools).
    ///
    /// # Errors
    /// [`BuildError`] with every name that is not legal or is there twice.
    pub fn from_tools<T: Tool + 'static>(tools: impl IntoIterator<Item = T>) -> Result<Self, BuildError> {
        let mut registry = Self::new();
        for tool in tools {
            registry.admit(Arc::new(tool));
        }
        registry.check().map(|()| registry)
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// [`BuildError`] if its name is not legal or is taken; the registry is then as before.
    pub fn register(&mut self, tool: impl Tool + 'static) -> Result<(), BuildError> {
        self.insert(Arc::new(tool)).map_err(BuildError::from)
    }

    /// Adds the methods of a value that are tools, see [`Toolset`].
    ///
    /// # Errors
    /// [`BuildError`] with every name that is not legal or is taken; the registry is then as before.
    pub fn register_all(&mut self, toolset: Arc<impl Toolset>) -> Result<(), BuildError> {
        let mut added = Self::new();
        toolset.tools().into_iter().for_each(|tool| added.admit(tool));
        self.merge(added)
    }

    /// Adds the tools that a [provider](ToolProvider) has now. If these change, register them anew, for instance with
    /// [`replace_namespace`](Self::replace_namespace).
    ///
    /// # Errors
    /// [`BuildError`] with every name that is not legal or is taken; the registry is then as before.
    pub fn register_provider(&mut self, provider: impl ToolProvider) -> Result<(), BuildError> {
        self.merge(Self::from_tools(ProvidedTool::all(provider))?)
    }

    /// Sets how long a call may run if neither its tool nor the dispatcher says.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// How long a call may run if neither its tool nor the dispatcher says.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Lends a value to the tools: `#[state]` parameters and [`ToolContext::state`] find it by its type.
    #[must_use]
    pub fn with_state<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_shared_state(Arc::new(value))
    }

    /// Like [`with_state`](Self::with_state), with a value that is shared already, which may be a trait object.
    #[must_use]
    pub fn with_shared_state<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        let state = self.state.take().map(Arc::unwrap_or_clone).unwrap_or_default();
        self.state = Some(Arc::new(state.with_shared(value)));
        self
    }

    pub(crate) fn state(&self) -> Option<&Arc<State>> {
        self.state.as_ref()
    }

    /// Whether the registry can serve: no collisions, and everything there that tools cannot do without.
    pub(crate) fn check_complete(&self) -> Result<(), BuildError> {
        let mut problems = self.problems.clone();
        for tool in self.every_tool_sorted() {
            let lacks = |need: &&StateNeed| !self.state.as_ref().is_some_and(|state| state.has(need));
            let definition = tool.definition();
            let ToolDefinition { name, metadata, .. } = definition;
            problems.extend(definition.state_needs().iter().filter(lacks).map(|need| {
                BuildProblem::MissingState {
                    tool: name.to_string(),
                    type_name: need.type_name(),
                    defined_at: metadata.defined_at,
                }
            }));
        }
        problems.extend(self.reserved_parameters());
        problems.extend(self.reserved_names());
        BuildError::unless_empty(problems)
    }

    /// Whether `+` and `+=` met names that both sides have. The tool that was there first has stayed.
    ///
    /// # Errors
    /// [`BuildError`] with all of them.
    pub fn check(&self) -> Result<(), BuildError> {
        BuildError::unless_empty(self.problems.clone())
    }

    /// How many tools there are that can be called.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is no tool that can be called.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool of this name, if it is not [disabled](Self::disable). A provider's
    /// spelling of the name (see [`WireNames`](crate::name::WireNames)) is understood too.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let by_spelling = || self.tools.get(&*self.cache.original(self, name)?);
        self.tools.get(name).or_else(|| self.search_tool(name)).or_else(by_spelling)
    }

    /// The tools in the order of their names, without [disabled](Self::disabled) ones, as everywhere where nothing
    /// else is said.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.cache.sorted(self).iter()
    }

    /// The definitions of the tools in the order of their names.
    pub fn iter_definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.iter().map(Tool::definition)
    }

    /// Returns the `tools` of a request for a provider, in the order of the names, with a report of what the
    /// provider cannot express.
    ///
    /// The list is rendered when it is first asked for; after a change of the registry, only what changed is
    /// rendered again.
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

    /// Returns the spellings of the names that a format accepts, both ways, for requests and histories that the
    /// program builds itself.
    #[must_use]
    pub fn wire_names(&self, format: &impl ToolFormat) -> WireNames {
        self.cache.names(self, format.name_rule())
    }

    /// The names of the tools in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.iter_definitions().map(|definition| definition.name.as_str())
    }

    /// Whether there is a tool of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Calls one tool with the JSON text of its arguments and waits for it.
    ///
    /// The time limits of the tool and of the registry hold. For calls of a model, which come in
    /// batches and can be cancelled, use a [`Dispatcher`](crate::Dispatcher).
    ///
    /// # Errors
    /// [`ToolError`]: no such tool, wrong arguments, or whatever the tool did instead of returning.
    pub async fn call(&self, name: &str, arguments: &str) -> Result<ToolOutput, ToolError> {
        let (tool, arguments) = match self.tools.get(name) {
            Some(tool) => (tool, Cow::Borrowed(arguments)),
            None => self.resolve_otherwise(name, arguments)?,
        };
        let definition = tool.definition();
        let (arguments, call_reason) = self.split_call_reason(definition, &arguments);
        let parts = CallParts { call_reason, state: self.state.clone(), ..CallParts::default() };
        let context = ToolContext::of_call(definition.name.clone(), parts);
        let limit = definition.metadata.timeout.or(self.timeout);
        let running = match start(&**tool, &arguments, &context, limit) {
            Ok(outcome) => return outcome,
            Err(running) => running,
        };
        running.await
    }

    /// The tool that a call means, and what it is called with.
    ///
    /// # Errors
    /// What the model reads if there is no such tool, and the arguments.
    #[inline]
    pub(crate) fn resolve(
        &self,
        name: &str,
        arguments: RawArguments,
    ) -> Result<Resolved<'_>, (ToolError, RawArguments)> {
        if let Some(tool) = self.tools.get(name) {
            return Ok(Resolved { tool, arguments, called_as: None });
        }
        let (tool, inner) = match self.resolve_otherwise(name, arguments.as_str()) {
            Ok(found) => found,
            Err(error) => return Err((error, arguments)),
        };
        Ok(match inner {
            Cow::Owned(inner) => Resolved { tool, arguments: inner.into(), called_as: None },
            Cow::Borrowed(_) => {
                let is_own = tool.definition().name.as_str() == name;
                Resolved { tool, arguments, called_as: (!is_own).then(|| name.into()) }
            }
        })
    }

    /// The error for a name that cannot be called: no tool has it, or the tool is disabled.
    #[cold]
    pub(crate) fn not_found(&self, name: &str) -> ToolError {
        let spelled = self.cache.original(self, name);
        let own_name = spelled.as_deref().unwrap_or(name);
        if let Some(reason) = self.disabled_reason(own_name) {
            return ToolError::disabled(name, reason);
        }
        // The model knows the tools under names that every provider accepts.
        let names = self.cache.names(self, NameRule::DASHES);
        let own = self.iter_definitions().map(|definition| names.spell(definition.name.as_str()));
        ToolError::not_found(name, own.chain(self.search_names().iter().copied()))
    }
}

/// What a call means.
pub(crate) struct Resolved<'a> {
    pub(crate) tool: &'a Arc<dyn Tool>,
    pub(crate) arguments: RawArguments,
    /// How the model spells the name of the tool, if otherwise.
    pub(crate) called_as: Option<Box<str>>,
}

impl fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&ToolName> = self.iter_definitions().map(|definition| &definition.name).collect();
        f.debug_struct("ToolRegistry").field("tools", &names).finish_non_exhaustive()
    }
}

/// Lists `#[tool]` functions as an array of [`FunctionTool`](crate::FunctionTool)s.
///
/// It is the sure way to register tools: a linker may drop the tools of a crate that nobody names, so
/// that [`ToolRegistry::discover`] does not see them.
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
