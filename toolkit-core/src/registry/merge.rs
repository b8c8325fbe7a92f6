//! Merging registries.

use super::{RegisteredTool, ToolRegistry};
use crate::context::State;
use crate::definition::{BoundTool, Tool};
use crate::error::BuildError;
use crate::schema::__private::sort_by;
use std::sync::Arc;

/// A rule for tools of the same name in a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Collision {
    /// The merge fails.
    #[default]
    Refuse,
    /// The existing tool stays.
    Keep,
    /// The new tool replaces it.
    Replace,
}

impl RegisteredTool {
    /// Gives the tool and its original the state of their registry.
    fn bind(&mut self, state: &Arc<State>) {
        self.tool = Arc::new(BoundTool::new(self.tool.clone(), state.clone()));
        if let Some(original) = self.original.take() {
            self.original = Some(Arc::new(BoundTool::new(original, state.clone())));
        }
    }
}

impl ToolRegistry {
    /// Adds another registry's tools, and its rules for disabling tools.
    ///
    /// # Errors
    /// Both registries have a tool of one name. The registry is then unchanged.
    pub fn merge(&mut self, other: Self) -> Result<(), BuildError> {
        self.merge_with(other, Collision::Refuse)
    }

    /// Adds another registry's tools, with a rule for name collisions.
    ///
    /// Disabled tools, namespaces and tags stay disabled, even if the other registry enables one of their
    /// tools. Of two reasons or time limits, this registry's is kept.
    ///
    /// State stays with the tools of its registry, in any order of adding and merging. From this registry's
    /// state, the other's tools see only values that they [require](crate::ToolDefinition::state_needs) and
    /// the other lacks, but no optional ones. If the other has no state, its tools are treated like tools
    /// registered here. State of a [run](crate::RunContext::with_state) takes precedence for all tools.
    ///
    /// # Errors
    /// With [`Collision::Refuse`], both have a tool of one name. The registry is then unchanged.
    pub fn merge_with(&mut self, other: Self, collision: Collision) -> Result<(), BuildError> {
        let mut merged = self.clone();
        merged.absorb(other, collision);
        merged.check()?;
        *self = merged;
        Ok(())
    }

    /// Adds the tools, state, rules and limits of `other`, and records a problem for each refused tool.
    fn absorb(&mut self, other: Self, collision: Collision) {
        self.switches.extend(other.switches, [&self.tools, &other.tools]);
        let mut entries: Vec<RegisteredTool> = other.tools.into_values().collect();
        sort_by(&mut entries, |a, b| a.name().cmp(b.name()));
        self.problems.extend(other.problems);
        self.apply_switches();
        if let Some(state) = &other.state {
            let own = self.state.take().map(Arc::unwrap_or_clone).unwrap_or_default();
            self.state = Some(Arc::new(own.with_run_states_of(state)));
        }
        let state = other.state.filter(|state| !state.is_empty());
        for mut added in entries {
            if let Some(state) = &state {
                added.bind(state);
            }
            let RegisteredTool { tool, original, .. } = added;
            match (collision, self.has(&tool.definition().name)) {
                (Collision::Keep, true) => {}
                (Collision::Replace, true) => {
                    let entry = self.insert(tool);
                    entry.original = original.or(entry.original.take());
                }
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
    }
}
