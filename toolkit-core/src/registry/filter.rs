//! Filters of tools by tag, namespace and name pattern.

use crate::error::BuildError;
use crate::name::normalize;
use crate::pattern::NamePattern;
use crate::tool::{ToolDefinition, ToolTag};
use std::collections::BTreeSet;

/// A set of tags to match: any or all of them.
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
    /// Matches tools with at least one of these tags.
    pub fn any<T: Into<ToolTag>>(tags: impl IntoIterator<Item = T>) -> Self {
        Self { tags: tags.into_iter().map(Into::into).collect(), all: false }
    }

    /// Matches tools with all of these tags; an empty set matches every tool.
    pub fn all<T: Into<ToolTag>>(tags: impl IntoIterator<Item = T>) -> Self {
        Self { tags: tags.into_iter().map(Into::into).collect(), all: true }
    }

    /// Returns whether a tool with these tags matches.
    #[must_use]
    pub fn matches(&self, tags: &BTreeSet<ToolTag>) -> bool {
        if self.all { self.tags.is_subset(tags) } else { !self.tags.is_disjoint(tags) }
    }

    /// Returns the tags to match.
    pub fn tags(&self) -> impl Iterator<Item = &ToolTag> {
        self.tags.iter()
    }
}

/// A filter of tools: a tool passes if it meets every condition.
///
/// A pattern is matched against the qualified name, the method name and the [normalised](normalize) method name. `*`
/// matches any text, also none, and `?` any single character. Other characters must be legal in names.
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

    /// Passes only tools with these tags.
    pub fn with_tags(mut self, tags: TagMatch) -> Self {
        self.tags.push(tags);
        self
    }

    /// Excludes tools with these tags.
    pub fn without_tags(mut self, tags: TagMatch) -> Self {
        self.without_tags.push(tags);
        self
    }

    /// Passes only tools of these namespaces and of those added before.
    pub fn in_namespaces<T: AsRef<str>>(mut self, namespaces: impl IntoIterator<Item = T>) -> Self {
        let namespaces = namespaces.into_iter().map(|namespace| normalize(namespace.as_ref()));
        self.namespaces.get_or_insert_default().extend(namespaces);
        self
    }

    /// Passes only tools with a name matching one of these patterns, or of those added before.
    ///
    /// # Errors
    /// [`BuildError`] for the first pattern that no legal name can match.
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
    /// [`BuildError`] for the first pattern that no legal name can match.
    pub fn exclude<T: Into<String>>(
        mut self,
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Self, BuildError> {
        self.exclude.append(&mut NamePattern::all(patterns)?);
        Ok(self)
    }

    /// Returns whether a tool passes.
    #[must_use]
    pub fn matches(&self, definition: &ToolDefinition) -> bool {
        let ToolDefinition { name, metadata, .. } = definition;
        let has = |wanted: &TagMatch| wanted.matches(&metadata.tags);
        let is_in =
            |namespaces: &BTreeSet<String>| name.namespace().is_some_and(|own| namespaces.contains(own));
        let normalized = normalize(name.method_name());
        let spellings = [name.as_str(), name.method_name(), &normalized];
        let fits = |pattern: &NamePattern| spellings.iter().any(|name| pattern.matches(name));
        self.tags.iter().all(has)
            && !self.without_tags.iter().any(has)
            && self.namespaces.as_ref().is_none_or(is_in)
            && self.include.as_ref().is_none_or(|patterns| patterns.iter().any(fits))
            && !self.exclude.iter().any(fits)
    }
}
