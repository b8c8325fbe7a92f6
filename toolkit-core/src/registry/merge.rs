//! Merging registries.

use super::{Entry, ToolRegistry};
use crate::context::State;
use crate::error::{BuildError, BuildProblem};
use crate::name::check_name;
use crate::tool::{BoundTool, Tool, ToolDefinition};
use std::ops::{Add, AddAssign};
use std::sync::Arc;

/// The way to handle two tools with the same name in a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Collision {
    /// The merge fails.
    #[default]
    Refuse,
    /// The registry keeps the tool registered first.
    Keep,
    /// The new tool replaces the tool registered first.
    Replace,
}

impl ToolRegistry {
    /// Adds the tools of another registry, and its rules for disabling tools.
    ///
    /// # Errors
    /// Returns a [`BuildError`] listing every tool name found in both registries. The registry is then
    /// unchanged.
    pub fn merge(&mut self, other: Self) -> Result<(), BuildError> {
        self.merge_with(other, Collision::Refuse)
    }

    /// Adds the tools of another registry, with a setting for name collisions.
    ///
    /// Disabled tools, namespaces and tags stay disabled. If both registries disable the same tool, namespace
    /// or tags, the reason given in this registry is kept. If both have a time limit, the limit of this
    /// registry is kept.
    ///
    /// Each tool keeps the state of its original registry. If both registries have state of the same type,
    /// each tool sees the value of its original registry. All other state is available to all tools.
    ///
    /// # Errors
    /// With [`Collision::Refuse`], returns a [`BuildError`] listing every tool name found in both registries.
    /// The registry is then unchanged.
    pub fn merge_with(&mut self, other: Self, collision: Collision) -> Result<(), BuildError> {
        let mut merged = self.clone();
        merged.absorb(other, collision);
        merged.check()?;
        *self = merged;
        Ok(())
    }

    /// Adds everything from another registry and records a problem for each refused tool.
    fn absorb(&mut self, other: Self, collision: Collision) {
        let mut entries: Vec<Entry> = other.tools.into_values().collect();
        entries.sort_by(|a, b| a.name().cmp(b.name()));
        self.problems.extend(other.problems);
        self.switches.extend(other.switches);
        self.apply_switches();
        let state = other
            .state
            .as_ref()
            .filter(|theirs| self.state.as_ref().is_some_and(|own| own.differs_from(theirs)));
        let bound = |tool: Arc<dyn Tool>| match state {
            Some(state) => Arc::new(BoundTool::new(tool, state.clone())) as Arc<dyn Tool>,
            None => tool,
        };
        for Entry { tool, original, .. } in entries {
            let (tool, original) = (bound(tool), original.map(bound));
            let name = tool.definition().name.clone();
            match (collision, self.tools.contains_key(name.as_str())) {
                (Collision::Keep, true) => {}
                (Collision::Replace, true) => drop(self.insert(tool)),
                _ => match self.try_insert(tool) {
                    Ok(entry) => entry.original = original,
                    Err(problem) => self.problems.push(problem),
                },
            }
        }
        self.timeout = self.timeout.or(other.timeout);
        self.call_reason |= other.call_reason;
        self.search = self.search.take().or(other.search);
        self.cache = self.cache.renewed();
        self.state = match (self.state.take(), other.state) {
            (Some(own), Some(other)) => Some(Arc::new(State::or(Arc::unwrap_or_clone(own), &other))),
            (own, other) => own.or(other),
        };
    }

    /// Inserts a tool with a legal name not yet taken.
    pub(super) fn try_insert(&mut self, tool: Arc<dyn Tool>) -> Result<&mut Entry, BuildProblem> {
        let ToolDefinition { name, metadata, .. } = tool.definition();
        check_name(name.as_str()).map_err(|error| tool.definition().illegal_name(error))?;
        if let Some(problem) = tool.definition().schema_fault() {
            return Err(problem);
        }
        if let Some(first) = self.get_any(name.as_str()) {
            return Err(BuildProblem::DuplicateName {
                name: name.to_string(),
                first: first.definition().metadata.defined_at,
                second: metadata.defined_at,
            });
        }
        Ok(self.insert(tool))
    }

    /// Inserts a tool, or records the problem for [`check`](Self::check).
    pub(super) fn insert_or_record(&mut self, tool: Arc<dyn Tool>) {
        if let Err(problem) = self.try_insert(tool) {
            self.problems.push(problem);
        }
    }
}

/// Adds the tools of another registry. Name collisions are recorded: [`ToolRegistry::check`] returns the
/// recorded problems, and [`Dispatcher::new`](crate::Dispatcher::new) refuses the registry.
impl AddAssign for ToolRegistry {
    fn add_assign(&mut self, other: Self) {
        self.absorb(other, Collision::Refuse);
    }
}

/// Adds one tool. A name collision is recorded for [`ToolRegistry::check`].
impl<T: Tool + 'static> AddAssign<T> for ToolRegistry {
    fn add_assign(&mut self, tool: T) {
        self.insert_or_record(Arc::new(tool));
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
