//! The tools of a program, by name.

mod discover;
mod think;
mod views;

pub use discover::Registration;

use crate::context::{State, StateNeed, ToolContext};
use crate::error::{BuildError, BuildProblem, ToolError};
use crate::name::{ToolName, WireNames, check_name};
use crate::output::ToolOutput;
use crate::tool::{Tool, ToolDefinition, Toolset, start};
use crate::wire::{ApiFormat, DefinitionOptions, Definitions};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::fmt;
use std::ops::{Add, AddAssign};
use std::sync::Arc;
use std::time::Duration;
use views::Views;

/// The tools of a program, by name. Clones share the tools.
///
/// No two tools have one name: the second is refused with a [`BuildError`] that names both places.
///
/// ```
/// use toolkit_core::{Tool, ToolRegistry};
///
/// let registry = ToolRegistry::new();
/// assert!(registry.get("add").is_none());
/// assert_eq!(registry.len(), 0);
/// ```
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: HashMap<Box<str>, Arc<dyn Tool>, RandomState>,
    timeout: Option<Duration>,
    state: Option<Arc<State>>,
    think: bool,
    /// Collisions found by `+` and `+=`, which cannot return them.
    problems: Vec<BuildProblem>,
    views: Views,
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
        self.merge(Self::from_tools(toolset.tools())?)
    }

    /// Adds the tools of another registry.
    ///
    /// # Errors
    /// [`BuildError`] with every name that both have; the registry is then as before.
    pub fn merge(&mut self, other: Self) -> Result<(), BuildError> {
        let merged = self.clone() + other;
        merged.check()?;
        *self = merged;
        Ok(())
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
        for tool in self.iter() {
            let lacks = |need: &&StateNeed| !self.state.as_ref().is_some_and(|state| state.has(need));
            let ToolDefinition { name, metadata, .. } = tool.definition();
            problems.extend(tool.state_needs().iter().filter(lacks).map(|need| BuildProblem::MissingState {
                tool: name.to_string(),
                type_name: need.type_name(),
                defined_at: metadata.defined_at,
            }));
        }
        problems.extend(self.reserved_parameters());
        BuildError::unless_empty(problems)
    }

    /// Whether `+` and `+=` met names that both sides have. The tool that was there first has stayed.
    ///
    /// # Errors
    /// [`BuildError`] with all of them.
    pub fn check(&self) -> Result<(), BuildError> {
        BuildError::unless_empty(self.problems.clone())
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool of this name. A provider's spelling of the name (see
    /// [`WireNames`](crate::WireNames)) is understood too.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).or_else(|| self.tools.get(self.views.original(self, name)?))
    }

    /// The tools in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.views.sorted(self).iter()
    }

    /// The definitions of the tools in the order of their names.
    pub fn iter_definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.iter().map(Tool::definition)
    }

    /// The list that a request carries as its `tools`, in the order of the names, with a
    /// [report](Definitions::report) of what the provider cannot say. It is rendered when it is first
    /// asked for; after a change of the registry, only what changed is rendered again.
    #[must_use]
    pub fn definitions(&self, format: ApiFormat) -> Definitions {
        self.definitions_with(format, &DefinitionOptions::default())
    }

    /// Like [`definitions`](Self::definitions), written as the options say.
    ///
    /// ```
    /// use toolkit_core::{ApiFormat, DefinitionOptions, StrictTools, ToolRegistry};
    ///
    /// let strict = DefinitionOptions::default().with_strict(StrictTools::All);
    /// let tools = ToolRegistry::new().definitions_with(ApiFormat::Anthropic, &strict);
    /// assert_eq!(tools.as_json(), "[]");
    /// ```
    #[must_use]
    pub fn definitions_with(&self, format: ApiFormat, options: &DefinitionOptions) -> Definitions {
        self.views.definitions(self, format, &self.published_with(options))
    }

    /// The spellings of the names that a provider accepts, both ways, for requests and histories that the
    /// program builds itself.
    #[must_use]
    pub fn wire_names(&self, format: ApiFormat) -> WireNames {
        self.views.names(self, format).clone()
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
        let Some(tool) = self.get(name) else { return Err(self.not_found(name)) };
        let definition = tool.definition();
        let (arguments, reason) = self.part_reason(definition, arguments);
        let context = ToolContext::new(definition.name.clone()).lent(self.state.as_ref()).with_reason(reason);
        let limit = definition.metadata.timeout.or(self.timeout);
        let running = match start(&**tool, &arguments, &context, limit) {
            Ok(outcome) => return outcome,
            Err(running) => running,
        };
        running.await
    }

    /// The error for a name that no tool has.
    #[cold]
    pub(crate) fn not_found(&self, name: &str) -> ToolError {
        // The model knows the tools under names that every provider accepts.
        let names = self.wire_names(ApiFormat::OpenAiChat);
        ToolError::not_found(
            name,
            self.iter_definitions().map(|definition| names.spell(definition.name.as_str())),
        )
    }

    fn insert(&mut self, tool: Arc<dyn Tool>) -> Result<(), BuildProblem> {
        let ToolDefinition { name, metadata, .. } = tool.definition();
        if let Err(error) = check_name(name.as_str()) {
            return Err(BuildProblem::IllegalName { error, defined_at: metadata.defined_at });
        }
        let name: Box<str> = name.as_str().into();
        if let Some(first) = self.tools.get(&name) {
            return Err(BuildProblem::DuplicateName {
                name: name.into(),
                first: first.definition().metadata.defined_at,
                second: metadata.defined_at,
            });
        }
        self.tools.insert(name, tool);
        self.views = self.views.renewed();
        Ok(())
    }

    /// Adds a tool or remembers why it could not be added.
    fn admit(&mut self, tool: Arc<dyn Tool>) {
        if let Err(problem) = self.insert(tool) {
            self.problems.push(problem);
        }
    }
}

/// Adds the tools of another registry. Names that both have are remembered: [`ToolRegistry::check`]
/// returns them, and no [`Dispatcher`](crate::Dispatcher) can be made of such a registry.
impl AddAssign for ToolRegistry {
    fn add_assign(&mut self, other: Self) {
        self.problems.extend(other.problems);
        let mut tools: Vec<Arc<dyn Tool>> = other.tools.into_values().collect();
        tools.sort_by(|a, b| a.definition().name.cmp(&b.definition().name));
        tools.into_iter().for_each(|tool| self.admit(tool));
        self.timeout = self.timeout.or(other.timeout);
        self.think |= other.think;
        self.state = match (self.state.take(), other.state) {
            (Some(own), Some(other)) => Some(Arc::new(Arc::unwrap_or_clone(own).or(&other))),
            (own, other) => own.or(other),
        };
    }
}

/// Adds one tool, with the rule of `+=` for registries.
impl<T: Tool + 'static> AddAssign<T> for ToolRegistry {
    fn add_assign(&mut self, tool: T) {
        self.admit(Arc::new(tool));
    }
}

impl Add for ToolRegistry {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl<T: Tool + 'static> Add<T> for ToolRegistry {
    type Output = Self;

    fn add(mut self, tool: T) -> Self {
        self += tool;
        self
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
