//! Merging registries.

use super::{Entry, ToolRegistry};
use crate::error::{BuildError, BuildProblem};
use crate::name::check_name;
use crate::tool::{BoundTool, Tool};
use std::ops::{Add, AddAssign};
use std::sync::Arc;

/// A rule for tools of the same name when two registries are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Collision {
    /// The merge fails.
    #[default]
    Refuse,
    /// The registry keeps the existing tool.
    Keep,
    /// The new tool replaces the existing tool.
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
    /// Disabled tools, namespaces and tags stay disabled, even if the other registry enables one of their tools.
    /// If both registries disable the same tool, namespace or tags, the reason given in this registry is kept.
    /// If both have a time limit, the limit of this registry is kept.
    ///
    /// State stays with the tools of its registry, regardless of the order in which state is added and
    /// registries are merged. The state of the other registry serves only the tools of the other registry.
    /// From the state of this registry, these tools see only values that they
    /// [require](crate::ToolDefinition::state_needs) and the other registry lacks. An optional value does not come from
    /// this registry. If the other registry has no state, its tools are treated like tools registered here. State
    /// of a [run](crate::RunContext::with_state) takes precedence for all tools.
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

    /// Adds the tools, state, rules and limits of `other`, and records a problem for each refused tool.
    fn absorb(&mut self, other: Self, collision: Collision) {
        self.switches.extend(other.switches, |name| {
            let entries = [&self.tools, &other.tools].into_iter().filter_map(|tools| tools.get(name));
            entries.map(|entry| entry.tool.definition()).collect()
        });
        let mut entries: Vec<Entry> = other.tools.into_values().collect();
        entries.sort_by(|a, b| a.name().cmp(b.name()));
        self.problems.extend(other.problems);
        self.apply_switches();
        if let Some(state) = &other.state {
            let own = self.state.take().map(Arc::unwrap_or_clone).unwrap_or_default();
            self.state = Some(Arc::new(own.with_run_states_of(state)));
        }
        let state = other.state.filter(|state| !state.is_empty());
        let bound = |tool: Arc<dyn Tool>| match &state {
            Some(state) => Arc::new(BoundTool::new(tool, state.clone())) as Arc<dyn Tool>,
            None => tool,
        };
        for Entry { tool, original, .. } in entries {
            let tool = bound(tool);
            let original = original.map(bound);
            let name = tool.definition().name.clone();
            match (collision, self.tools.contains_key(name.as_str())) {
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

    /// Inserts a tool. Fails if the name is illegal or already taken, or if the schema has a fault.
    pub(super) fn try_insert(&mut self, tool: Arc<dyn Tool>) -> Result<&mut Entry, BuildProblem> {
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

#[cfg(all(test, not(feature = "jsonschema")))]
mod tests {
    use super::*;
    use crate::name::ToolName;
    use crate::tool::{AdaptedTool, ClosureTool};
    use schemars::JsonSchema;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// Declares argument types for a test. Each type has the pattern in a different schema keyword or position.
    macro_rules! with_pattern {
        ($pattern:literal) => {{
            #[derive(Deserialize, JsonSchema)]
            #[allow(dead_code)]
            struct Plain {
                #[schemars(regex(pattern = $pattern))]
                name: String,
            }

            #[derive(Deserialize, JsonSchema)]
            struct Nested {
                #[allow(dead_code)]
                list: Vec<Option<Plain>>,
            }

            #[derive(Deserialize, JsonSchema)]
            #[allow(dead_code)]
            struct Recursive {
                inner: Option<Box<Recursive>>,
                plain: Plain,
            }

            #[derive(Deserialize, JsonSchema)]
            #[schemars(extend("patternProperties" = {$pattern: {"type": "integer"}}))]
            #[allow(dead_code)]
            struct Names(BTreeMap<String, i64>);

            [
                ClosureTool::new("plain", "", |_: Plain| ()),
                ClosureTool::new("nested", "", |_: Nested| ()),
                ClosureTool::new("recursive", "", |_: Recursive| ()),
                ClosureTool::new("names", "", |_: Names| ()),
            ]
            .map(|tool| tool.expect("an object"))
        }};
    }

    #[test]
    fn a_pattern_that_cannot_be_checked_is_a_build_error_that_names_the_feature() {
        for (pattern, tools) in [
            (r"^(?!root)\w+$", with_pattern!(r"^(?!root)\w+$")),
            (r"^\p{Lu}", with_pattern!(r"^\p{Lu}")),
            (r"^(a)\1$", with_pattern!(r"^(a)\1$")),
        ] {
            for tool in tools {
                let name = tool.definition().name.to_string();
                let adapted =
                    AdaptedTool::new(tool.clone()).with_name(ToolName::new("other").expect("a name"));
                let errors = [ToolRegistry::from_tools([tool]), ToolRegistry::from_tools([adapted])];
                for (name, error) in [name.as_str(), "other"].into_iter().zip(errors) {
                    let error = error.expect_err(pattern).to_string();
                    for part in [name, pattern, "feature `jsonschema`"] {
                        assert!(error.contains(part), "`{part}` is in: {error}");
                    }
                }
            }
        }
        for tool in with_pattern!(r"^[a-z]+\d*$") {
            ToolRegistry::from_tools([tool]).expect("the pattern can be checked");
        }
    }
}
