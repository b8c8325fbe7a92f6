//! The program's state for the tools of a registry.

use super::ToolRegistry;
use crate::context::{RunContext, State, StateNeed};
use crate::definition::ToolDefinition;
use crate::error::{BuildError, BuildProblem, ToolFault};
use std::sync::Arc;

impl ToolRegistry {
    /// Adds a value to the state, for `#[state]` parameters and
    /// [`ToolContext::state`](crate::ToolContext::state) to find by type.
    ///
    /// For a value in an `Arc`, use [`with_shared_state`](Self::with_shared_state). Tools
    /// [merged](Self::merge_with) from a registry with its own state find only values whose type they
    /// require.
    #[doc(alias("inject", "Extension", "depends"))]
    #[must_use]
    pub fn with_state<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_shared_state(Arc::new(value))
    }

    /// Adds a value in an `Arc`, possibly a trait object, like [`with_state`](Self::with_state).
    #[must_use]
    pub fn with_shared_state<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        let state = self.state.take().map(Arc::unwrap_or_clone).unwrap_or_default();
        self.state = Some(Arc::new(state.with_shared(value)));
        self
    }

    /// Declares that the [run](crate::RunContext::with_state) of each call adds state of type `T`.
    ///
    /// Tools can then have a parameter `#[state] user: &User` although the registry has no such value. A
    /// call without it in its run fails, and an agent [refuses](Self::check_run_state) such a run at once.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, Dispatcher, RunContext, ToolCall, ToolContext, ToolRegistry};
    ///
    /// struct User(&'static str);
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Nothing {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let who = ClosureTool::new_with_context("who", "Tells the name.", |_: Nothing, context: ToolContext| {
    ///     context.state::<User>().map(|user| user.0)
    /// })?;
    /// let registry = ToolRegistry::from_tools([who])?.with_run_state::<User>();
    /// let dispatcher = Dispatcher::new(registry)?.with_run(RunContext::new().with_state(User("Ada")));
    /// let results = dispatcher.dispatch([ToolCall::new("call_1", "who", "{}")]).await;
    /// assert_eq!(results[0].to_text(), "Ada");
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_run_state<T: ?Sized + Send + Sync + 'static>(mut self) -> Self {
        let state = self.state.take().map(Arc::unwrap_or_clone).unwrap_or_default();
        self.state = Some(Arc::new(state.with_run_state::<T>()));
        self
    }

    /// Checks that `run` has each [declared](Self::with_run_state) value that a tool needs. `Option<&T>`
    /// needs none.
    ///
    /// An agent checks before each turn, because the call that misses the value may have been approved.
    ///
    /// ```
    /// use toolkit_ai::{RunContext, ToolRegistry, tool, tools};
    ///
    /// struct User(&'static str);
    ///
    /// /// Tells the name of the user.
    /// #[tool]
    /// fn who(#[state] user: &User) -> &'static str {
    ///     user.0
    /// }
    ///
    /// let registry = ToolRegistry::from_tools(tools![who])?.with_run_state::<User>();
    /// assert!(registry.check_run_state(&RunContext::new().with_state(User("Ada"))).is_ok());
    /// let error = registry.check_run_state(&RunContext::new()).unwrap_err();
    /// assert!(error.to_string().contains("from each run, and this run has none"));
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// Every tool with the values that it misses.
    pub fn check_run_state(&self, run: &RunContext) -> Result<(), BuildError> {
        let Some(state) = self.state().filter(|state| state.declares_run_state()) else { return Ok(()) };
        let mut problems = Vec::new();
        for definition in self.iter_definitions() {
            for need in definition.state_needs() {
                if !need.is_optional() && !need.is_met && !state.has_value(need) && !run.has_state(need) {
                    let type_name = need.type_name();
                    problems.push(definition.problem(ToolFault::MissingRunState { type_name }));
                }
            }
        }
        BuildError::unless_empty(problems)
    }

    pub(crate) fn state(&self) -> Option<&Arc<State>> {
        self.state.as_ref()
    }

    /// Returns the state types that the tool needs but the registry lacks, with problems to report.
    /// Optional state is a problem only inside of a pointer, where the tool would not find it.
    pub(super) fn missing_state<'a>(
        &'a self,
        definition: &'a ToolDefinition,
    ) -> impl Iterator<Item = (&'static str, BuildProblem)> + 'a {
        definition.state_needs().iter().filter_map(move |need| self.missing_value(definition, need))
    }

    fn missing_value(
        &self,
        definition: &ToolDefinition,
        need: &StateNeed,
    ) -> Option<(&'static str, BuildProblem)> {
        let state = self.state.as_deref();
        if need.is_met || state.is_some_and(|state| state.has(need)) {
            return None;
        }
        let within = state.and_then(|state| state.pointer_around(need)).or(need.within);
        if need.is_optional() && within.is_none() {
            return None;
        }
        let type_name = need.type_name();
        Some((type_name, definition.problem(ToolFault::MissingState { type_name, within })))
    }
}
