//! Filters of tools by tag, namespace and name pattern.

use crate::name::normalize;
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
pub struct TagMatch {
    tags: BTreeSet<ToolTag>,
    all: bool,
}

impl TagMatch {
    /// Matches tools with at least one of these tags.
    #[must_use]
    pub fn any<T: Into<ToolTag>>(tags: impl IntoIterator<Item = T>) -> Self {
        Self { tags: tags.into_iter().map(Into::into).collect(), all: false }
    }

    /// Matches tools with all of these tags; an empty set matches every tool.
    #[must_use]
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
/// matches any text, also none, and `?` any single character.
///
/// ```
/// use serde_json::json;
/// use toolkit::{ToolDefinition, ToolFilter, ToolName};
/// use toolkit::name::Separator;
///
/// let name = ToolName::qualified("files", "read", Separator::Dash)?;
/// let read = ToolDefinition::new(name, "Reads.", json!({"type": "object"}));
/// assert!(ToolFilter::new().include(["files-*"]).matches(&read));
/// assert!(ToolFilter::new().include(["re?d"]).matches(&read));
/// assert!(!ToolFilter::new().include(["files-*"]).exclude(["read"]).matches(&read));
/// # Ok::<(), toolkit::name::NameError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFilter {
    tags: Vec<TagMatch>,
    without_tags: Vec<TagMatch>,
    namespaces: Option<BTreeSet<String>>,
    include: Option<Vec<String>>,
    exclude: Vec<String>,
}

impl ToolFilter {
    /// Creates a filter without conditions: every tool passes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes only tools with these tags.
    #[must_use]
    pub fn with_tags(mut self, tags: TagMatch) -> Self {
        self.tags.push(tags);
        self
    }

    /// Excludes tools with these tags.
    #[must_use]
    pub fn without_tags(mut self, tags: TagMatch) -> Self {
        self.without_tags.push(tags);
        self
    }

    /// Passes only tools of these namespaces and of those added before.
    #[must_use]
    pub fn in_namespaces<T: AsRef<str>>(mut self, namespaces: impl IntoIterator<Item = T>) -> Self {
        let namespaces = namespaces.into_iter().map(|namespace| normalize(namespace.as_ref()));
        self.namespaces.get_or_insert_default().extend(namespaces);
        self
    }

    /// Passes only tools with a name matching one of these patterns, or of those added before.
    #[must_use]
    pub fn include<T: Into<String>>(mut self, patterns: impl IntoIterator<Item = T>) -> Self {
        self.include.get_or_insert_default().extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Excludes tools with a name matching one of these patterns.
    #[must_use]
    pub fn exclude<T: Into<String>>(mut self, patterns: impl IntoIterator<Item = T>) -> Self {
        self.exclude.extend(patterns.into_iter().map(Into::into));
        self
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
        let fits = |pattern: &String| spellings.iter().any(|name| matches_glob(pattern, name));
        self.tags.iter().all(has)
            && !self.without_tags.iter().any(has)
            && self.namespaces.as_ref().is_none_or(is_in)
            && self.include.as_ref().is_none_or(|patterns| patterns.iter().any(fits))
            && !self.exclude.iter().any(fits)
    }
}

/// Returns whether a text matches a pattern of `*` and `?`, in time bounded by the product of both lengths.
///
/// Glob crates are made for paths: there `*` stops at `/`, and braces and brackets have a meaning.
fn matches_glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Positions after the last `*` and in the text: on a mismatch the `*` takes one more character.
    let mut star = None;
    while let Some(c) = text.get(read) {
        match pattern.get(at) {
            Some('*') => {
                at += 1;
                star = Some((at, read));
            }
            Some(wanted) if *wanted == '?' || wanted == c => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((behind, met)) = star else { return false };
                star = Some((behind, met + 1));
                (at, read) = (behind, met + 1);
            }
        }
    }
    pattern.iter().skip(at).all(|left| *left == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex_lite::Regex;

    proptest! {
        #[test]
        fn a_pattern_matches_like_its_regular_expression(pattern in "[ab*?.-]{0,8}", text in "[ab.-]{0,10}") {
            let regex = regex_lite::escape(&pattern).replace(r"\*", ".*").replace(r"\?", ".");
            let regex = Regex::new(&format!("^{regex}$")).unwrap();
            prop_assert_eq!(matches_glob(&pattern, &text), regex.is_match(&text), "{} {}", pattern, text);
        }
    }

    #[test]
    fn many_stars_match_in_bounded_time() {
        assert!(!matches_glob(&"*a".repeat(200), &"a".repeat(199)));
        assert!(matches_glob(&"*a".repeat(200), &"a".repeat(400)));
    }
}
