//! Filters of tools by tag, namespace and name pattern.

use crate::definition::{ToolDefinition, ToolTag};
use crate::error::{BuildError, BuildProblem};
use crate::name::{ToolName, normalize};
use crate::pattern::NamePattern;
use crate::schema::__private::distinct;
use std::collections::BTreeSet;

/// A condition on a tool's tags: any or all of the given ones.
///
/// ```
/// use toolkit_ai::{ToolMetadata, ToolTag};
/// use toolkit_ai::registry::TagMatch;
///
/// let tags = ToolMetadata::default().with_tags(["network", "billing"]).tags;
/// assert!(TagMatch::any([ToolTag::Network, ToolTag::Slow]).matches(&tags));
/// assert!(TagMatch::all(["network", "billing"]).matches(&tags));
/// assert!(!TagMatch::all(["network", "slow"]).matches(&tags));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct TagMatch {
    tags: BTreeSet<ToolTag>,
    all: bool,
}

impl TagMatch {
    /// Creates a condition for tools with any of these tags.
    pub fn any<T: Into<ToolTag>>(tags: impl IntoIterator<Item = T>) -> Self {
        Self { tags: tags.into_iter().map(Into::into).collect(), all: false }
    }

    /// Creates a condition for tools with all of these tags. Without tags, every tool matches.
    pub fn all<T: Into<ToolTag>>(tags: impl IntoIterator<Item = T>) -> Self {
        Self { tags: tags.into_iter().map(Into::into).collect(), all: true }
    }

    /// Returns whether a tool with these tags matches.
    #[must_use]
    pub fn matches(&self, tags: &BTreeSet<ToolTag>) -> bool {
        let mut own = self.tags.iter();
        if self.all { own.all(|tag| tags.contains(tag)) } else { own.any(|tag| tags.contains(tag)) }
    }

    /// Returns the tags of the condition.
    pub fn tags(&self) -> impl Iterator<Item = &ToolTag> {
        self.tags.iter()
    }
}

/// Selects the tools that meet every condition.
///
/// An included pattern is compared with the full name: `read` does not match `files-read`, but `*read`
/// does. An excluded pattern is also compared with the name without its namespace, so `read` excludes
/// `files-read`. [Permissions](crate::middleware::PermissionRule::for_tool) follow the same rule: what
/// permits compares full names, what restricts both. `*` matches any number of characters, `?` exactly one.
/// All others must be legal in names.
///
/// An included pattern that would match only without namespaces is refused: by a discovery, a new view, or
/// the [check](crate::ToolRegistry::check) of a filtered registry.
///
/// ```
/// use serde_json::json;
/// use toolkit_ai::{ToolDefinition, ToolFilter, ToolName};
/// use toolkit_ai::name::Separator;
///
/// let name = ToolName::qualified("files", "read", Separator::Dash)?;
/// let read = ToolDefinition::new(name, "Reads.", json!({"type": "object"}));
/// assert!(ToolFilter::new().include(["files-*"])?.matches(&read));
/// assert!(ToolFilter::new().include(["*-re?d"])?.matches(&read));
/// assert!(!ToolFilter::new().include(["files-*"])?.exclude(["read"])?.matches(&read));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct ToolFilter {
    tags: Vec<TagMatch>,
    without_tags: Vec<TagMatch>,
    namespaces: Option<BTreeSet<String>>,
    include: Option<Vec<NamePattern>>,
    exclude: Vec<NamePattern>,
}

impl ToolFilter {
    /// Creates a filter that every tool passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes only tools with matching tags. Each call adds a condition.
    pub fn with_tags(mut self, tags: TagMatch) -> Self {
        self.tags.push(tags);
        self
    }

    /// Excludes tools with matching tags. Each call adds a condition, and a tool must meet none.
    pub fn without_tags(mut self, tags: TagMatch) -> Self {
        self.without_tags.push(tags);
        self
    }

    /// Passes only tools in one of these namespaces. Further calls add more.
    pub fn in_namespaces<T: AsRef<str>>(mut self, namespaces: impl IntoIterator<Item = T>) -> Self {
        let namespaces = namespaces.into_iter().map(|namespace| normalize(namespace.as_ref()));
        self.namespaces.get_or_insert_default().extend(namespaces);
        self
    }

    /// Passes only tools whose full name matches one of these patterns. Further calls add more.
    ///
    /// # Errors
    /// A pattern cannot match a legal tool name.
    pub fn include<T: Into<String>>(
        mut self,
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Self, BuildError> {
        self.include.get_or_insert_default().append(&mut NamePattern::all(patterns)?);
        Ok(self)
    }

    /// Excludes tools whose name, with or without namespace, matches one of these patterns.
    ///
    /// # Errors
    /// A pattern cannot match a legal tool name.
    pub fn exclude<T: Into<String>>(
        mut self,
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Self, BuildError> {
        self.exclude.append(&mut NamePattern::all(patterns)?);
        Ok(self)
    }

    /// Returns a problem for each included pattern that matches `tools` only without their namespaces.
    pub(super) fn bare_names(&self, tools: &[&ToolName]) -> Vec<BuildProblem> {
        let mut problems = Vec::new();
        for pattern in self.include.iter().flatten() {
            problems.extend(pattern.bare_name("tool", tools));
        }
        problems
    }

    /// Returns a problem for each unknown included name or namespace.
    pub(super) fn unmatched(&self, tools: &[&ToolName]) -> Vec<BuildProblem> {
        let mut problems = Vec::new();
        for pattern in self.include.iter().flatten() {
            problems.extend(pattern.unknown_name("tool", tools));
        }
        let known = distinct(tools.iter().filter_map(|tool| tool.namespace()));
        for namespace in self.namespaces.iter().flatten() {
            if !known.contains(&namespace.as_str()) {
                problems.push(BuildProblem::unknown("namespace", namespace, known.iter().copied()));
            }
        }
        problems
    }

    /// Returns whether a tool passes the filter.
    #[must_use]
    pub fn matches(&self, definition: &ToolDefinition) -> bool {
        let ToolDefinition { name, metadata, .. } = definition;
        if let Some(namespaces) = &self.namespaces
            && !name.namespace().is_some_and(|own| namespaces.contains(own))
        {
            return false;
        }
        if let Some(patterns) = &self.include
            && !patterns.iter().any(|pattern| pattern.matches(name))
        {
            return false;
        }
        self.tags.iter().all(|tags| tags.matches(&metadata.tags))
            && !self.without_tags.iter().any(|tags| tags.matches(&metadata.tags))
            && !self.exclude.iter().any(|pattern| pattern.restricts(name))
    }
}
