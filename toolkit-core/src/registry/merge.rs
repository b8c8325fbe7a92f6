//! Putting registries together.

use super::ToolRegistry;
use crate::context::State;
use crate::error::{BuildError, BuildProblem};
use crate::name::check_name;
use crate::tool::{Tool, ToolDefinition};
use std::ops::{Add, AddAssign};
use std::sync::Arc;

/// What happens where two registries have a tool of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Collision {
    /// It is an error.
    #[default]
    Refuse,
    /// The tool that was there stays.
    Keep,
    /// The tool that comes takes its place.
    Replace,
}

impl ToolRegistry {
    /// Adds the tools of another registry, and what was said about them.
    ///
    /// # Errors
    /// [`BuildError`] with every name that both have; the registry is then as before.
    pub fn merge(&mut self, other: Self) -> Result<(), BuildError> {
        self.merge_with(other, Collision::Refuse)
    }

    /// Adds the tools of another registry. What that disables is disabled here too; where both say something
    /// about the same tool, namespace or tags, it stays as it is here, and so do state and time limit.
    ///
    /// # Errors
    /// [`BuildError`] with every name that both have, if that is [refused](Collision::Refuse); the registry is
    /// then as before.
    pub fn merge_with(&mut self, other: Self, collision: Collision) -> Result<(), BuildError> {
        let mut merged = self.clone();
        merged.absorb(other, collision);
        merged.check()?;
        *self = merged;
        Ok(())
    }

    /// Adds the tools of another registry, and remembers what is refused.
    fn absorb(&mut self, other: Self, collision: Collision) {
        let tools: Vec<Arc<dyn Tool>> = other.every_tool_sorted().into_iter().cloned().collect();
        self.problems.extend(other.problems);
        self.switches.extend(other.switches);
        self.settle();
        for tool in tools {
            let name = tool.definition().name.clone();
            let is_taken = self.get_any(name.as_str()).is_some();
            match collision {
                Collision::Keep if is_taken => continue,
                Collision::Replace if is_taken => self.put(tool),
                _ => self.admit(tool),
            }
            if let (false, Some(original)) = (is_taken, other.overridden.get(name.as_str())) {
                self.overridden.insert(name.as_str().into(), original.clone());
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

    pub(super) fn insert(&mut self, tool: Arc<dyn Tool>) -> Result<(), BuildProblem> {
        let ToolDefinition { name, metadata, .. } = tool.definition();
        if let Err(error) = check_name(name.as_str()) {
            return Err(BuildProblem::IllegalName { error, defined_at: metadata.defined_at });
        }
        if let Some(first) = self.get_any(name.as_str()) {
            return Err(BuildProblem::DuplicateName {
                name: name.to_string(),
                first: first.definition().metadata.defined_at,
                second: metadata.defined_at,
            });
        }
        self.put(tool);
        Ok(())
    }

    /// Adds a tool or remembers why it could not be added.
    pub(super) fn admit(&mut self, tool: Arc<dyn Tool>) {
        if let Err(problem) = self.insert(tool) {
            self.problems.push(problem);
        }
    }
}

/// Adds the tools of another registry. Names that both have are remembered: [`ToolRegistry::check`]
/// returns them, and no [`Dispatcher`](crate::Dispatcher) can be made of such a registry.
impl AddAssign for ToolRegistry {
    fn add_assign(&mut self, other: Self) {
        self.absorb(other, Collision::Refuse);
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
