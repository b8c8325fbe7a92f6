//! Merging registries.

use super::ToolRegistry;
use crate::context::State;
use crate::error::{BuildError, BuildProblem};
use crate::name::check_name;
use crate::tool::{Tool, ToolDefinition};
use std::ops::{Add, AddAssign};
use std::sync::Arc;

/// The rule for tools of the same name in a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Collision {
    /// The merge fails.
    #[default]
    Refuse,
    /// The earlier tool stays.
    Keep,
    /// The new tool replaces it.
    Replace,
}

impl ToolRegistry {
    /// Merges another registry: its tools and their rules.
    ///
    /// # Errors
    /// [`BuildError`] with every name that both have; the registry is then unchanged.
    pub fn merge(&mut self, other: Self) -> Result<(), BuildError> {
        self.merge_with(other, Collision::Refuse)
    }

    /// Merges another registry with a rule for collisions.
    ///
    /// Disabled tools, namespaces and tags stay disabled. Where both registries have a rule, a state or a time limit,
    /// this one's is kept.
    ///
    /// # Errors
    /// [`BuildError`] with every name that both have, under [`Collision::Refuse`]; the registry is then unchanged.
    pub fn merge_with(&mut self, other: Self, collision: Collision) -> Result<(), BuildError> {
        let mut merged = self.clone();
        merged.absorb(other, collision);
        merged.check()?;
        *self = merged;
        Ok(())
    }

    /// Merges another registry and records refused tools.
    fn absorb(&mut self, other: Self, collision: Collision) {
        let tools: Vec<Arc<dyn Tool>> = other.all_tools_sorted().into_iter().cloned().collect();
        self.problems.extend(other.problems);
        self.switches.extend(other.switches);
        self.apply_switches();
        for tool in tools {
            let name = tool.definition().name.clone();
            let is_taken = self.get_any(name.as_str()).is_some();
            match collision {
                Collision::Keep if is_taken => continue,
                Collision::Replace if is_taken => self.insert(tool),
                _ => self.insert_or_record(tool),
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

    /// Inserts a tool with a legal, free name.
    pub(super) fn try_insert(&mut self, tool: Arc<dyn Tool>) -> Result<(), BuildProblem> {
        let ToolDefinition { name, metadata, .. } = tool.definition();
        if let Some(pattern) = tool.definition().unknown_pattern() {
            return Err(BuildProblem::InvalidSchema {
                tool: name.to_string(),
                path: "#".to_owned(),
                message: format!(
                    "arguments cannot be checked against the pattern `{pattern}`; write it without look-around and \
                     classes of Unicode, or turn on the feature `jsonschema`"
                ),
                defined_at: metadata.defined_at,
            });
        }
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
        self.insert(tool);
        Ok(())
    }

    /// Inserts a tool, or records the problem.
    pub(super) fn insert_or_record(&mut self, tool: Arc<dyn Tool>) {
        if let Err(problem) = self.try_insert(tool) {
            self.problems.push(problem);
        }
    }
}

/// Merges another registry. Collisions are recorded: [`ToolRegistry::check`] returns them, and
/// [`Dispatcher::new`](crate::Dispatcher::new) refuses the registry.
impl AddAssign for ToolRegistry {
    fn add_assign(&mut self, other: Self) {
        self.absorb(other, Collision::Refuse);
    }
}

/// Adds one tool; a collision is recorded as for registries.
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
