//! Filters of tools by tag, namespace and name pattern.

use crate::error::BuildError;
use crate::name::{ToolName, normalize};
use crate::pattern::NamePattern;
use crate::tool::{ToolDefinition, ToolTag};
use std::collections::BTreeSet;

/// A condition on the tags of a tool: the tool must have any or all of the given tags.
///
/// ```
/// use toolkit::{ToolMetadata, ToolTag};
/// use toolkit::registry::TagMatch;
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
    /// Creates a condition for tools with at least one of these tags.
    pub fn any<T: Into<ToolTag>>(tags: impl IntoIterator<Item = T>) -> Self {
        Self { tags: tags.into_iter().map(Into::into).collect(), all: false }
    }

    /// Creates a condition for tools with all of these tags. With an empty set, every tool matches.
    pub fn all<T: Into<ToolTag>>(tags: impl IntoIterator<Item = T>) -> Self {
        Self { tags: tags.into_iter().map(Into::into).collect(), all: true }
    }

    /// Returns whether a tool with these tags matches.
    #[must_use]
    pub fn matches(&self, tags: &BTreeSet<ToolTag>) -> bool {
        if self.all { self.tags.is_subset(tags) } else { !self.tags.is_disjoint(tags) }
    }

    /// Returns the tags of the condition.
    pub fn tags(&self) -> impl Iterator<Item = &ToolTag> {
        self.tags.iter()
    }
}

/// A filter to select tools. A tool passes if it meets every condition of the filter.
///
/// A name pattern is compared with the qualified name, the method name and the [normalised](normalize) method
/// name. `*` matches any number of characters, including none, and `?` matches exactly one. All other
/// characters of a pattern must be legal in names.
///
/// ```
/// use serde_json::json;
/// use toolkit::{ToolDefinition, ToolFilter, ToolName};
/// use toolkit::name::Separator;
///
/// let name = ToolName::qualified("files", "read", Separator::Dash)?;
/// let read = ToolDefinition::new(name, "Reads.", json!({"type": "object"}));
/// assert!(ToolFilter::new().include(["files-*"])?.matches(&read));
/// assert!(ToolFilter::new().include(["re?d"])?.matches(&read));
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
    /// Creates a filter without conditions: every tool passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes only tools with matching tags. Each use of this method adds a condition, and a tool must meet
    /// all conditions.
    pub fn with_tags(mut self, tags: TagMatch) -> Self {
        self.tags.push(tags);
        self
    }

    /// Excludes tools with matching tags. Each use of this method adds a condition, and a tool must meet none
    /// of the conditions.
    pub fn without_tags(mut self, tags: TagMatch) -> Self {
        self.without_tags.push(tags);
        self
    }

    /// Passes only tools in one of these namespaces. Calling this method again adds more namespaces.
    pub fn in_namespaces<T: AsRef<str>>(mut self, namespaces: impl IntoIterator<Item = T>) -> Self {
        let namespaces = namespaces.into_iter().map(|namespace| normalize(namespace.as_ref()));
        self.namespaces.get_or_insert_default().extend(namespaces);
        self
    }

    /// Passes only tools with a name matching one of these patterns. Calling this method again adds more
    /// patterns.
    ///
    /// # Errors
    /// Returns a [`BuildError`] for the first pattern unable to match any legal tool name.
    pub fn include<T: Into<String>>(
        mut self,
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Self, BuildError> {
        self.include.get_or_insert_default().append(&mut NamePattern::all(patterns)?);
        Ok(self)
    }

    /// Excludes tools with a name matching one of these patterns.
    ///
    /// # Errors
    /// Returns a [`BuildError`] for the first pattern unable to match any legal tool name.
    pub fn exclude<T: Into<String>>(
        mut self,
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Self, BuildError> {
        self.exclude.append(&mut NamePattern::all(patterns)?);
        Ok(self)
    }

    /// Returns the names and namespaces included by the filter that none of the `definitions` has. Patterns with
    /// wildcards may match no tool.
    pub(super) fn unmatched<'a>(&'a self, definitions: &[&ToolDefinition]) -> Vec<(&'static str, &'a str)> {
        let included = self.include.iter().flatten().filter(|pattern| pattern.is_name());
        let has_name = |pattern: &NamePattern| definitions.iter().any(|tool| fits(pattern, &tool.name));
        let names = included.filter(|pattern| !has_name(pattern)).map(|pattern| ("tool", pattern.as_str()));
        let is_there = |wanted: &str| definitions.iter().any(|tool| tool.name.namespace() == Some(wanted));
        let namespaces = self.namespaces.iter().flatten().map(String::as_str);
        names
            .chain(namespaces.filter(|wanted| !is_there(wanted)).map(|wanted| ("namespace", wanted)))
            .collect()
    }

    /// Returns whether a tool with this definition passes the filter.
    #[must_use]
    pub fn matches(&self, definition: &ToolDefinition) -> bool {
        let ToolDefinition { name, metadata, .. } = definition;
        let has = |wanted: &TagMatch| wanted.matches(&metadata.tags);
        let is_in =
            |namespaces: &BTreeSet<String>| name.namespace().is_some_and(|own| namespaces.contains(own));
        let fits = |pattern: &NamePattern| fits(pattern, name);
        self.tags.iter().all(has)
            && !self.without_tags.iter().any(has)
            && self.namespaces.as_ref().is_none_or(is_in)
            && self.include.as_ref().is_none_or(|patterns| patterns.iter().any(fits))
            && !self.exclude.iter().any(fits)
    }
}

/// Returns whether the pattern matches one of the spellings of a name.
fn fits(pattern: &NamePattern, name: &ToolName) -> bool {
    let normalized = normalize(name.method_name());
    [name.as_str(), name.method_name(), &normalized].iter().any(|name| pattern.matches(name))
}
