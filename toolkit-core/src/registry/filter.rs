//! Choosing tools: by tags, by namespaces, by patterns of their names.

use crate::name::normalize;
use crate::tool::{ToolDefinition, ToolTag};
use std::collections::BTreeSet;

/// Tags of which a tool must have any, or all.
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
    /// At least one of these tags.
    #[must_use]
    pub fn any<T: Into<ToolTag>>(tags: impl IntoIterator<Item = T>) -> Self {
        Self { tags: tags.into_iter().map(Into::into).collect(), all: false }
    }

    /// All of these tags. No tag at all is asked of a tool if there are none.
    #[must_use]
    pub fn all<T: Into<ToolTag>>(tags: impl IntoIterator<Item = T>) -> Self {
        Self { tags: tags.into_iter().map(Into::into).collect(), all: true }
    }

    /// Whether a tool with these tags is meant.
    #[must_use]
    pub fn matches(&self, tags: &BTreeSet<ToolTag>) -> bool {
        if self.all { self.tags.is_subset(tags) } else { !self.tags.is_disjoint(tags) }
    }

    /// The tags.
    pub fn tags(&self) -> impl Iterator<Item = &ToolTag> {
        self.tags.iter()
    }
}

/// Which tools are meant: those that fit everything that was said.
///
/// Patterns are matched with the whole name, with the method's own name and with that name
/// [normalised](normalize). In a pattern `*` stands for any text, also for none, and `?` for any one character.
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
    /// A filter that every tool passes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only tools with these tags.
    #[must_use]
    pub fn with_tags(mut self, tags: TagMatch) -> Self {
        self.tags.push(tags);
        self
    }

    /// No tools with these tags.
    #[must_use]
    pub fn without_tags(mut self, tags: TagMatch) -> Self {
        self.without_tags.push(tags);
        self
    }

    /// Only tools of these namespaces, and of those named before.
    #[must_use]
    pub fn in_namespaces<T: AsRef<str>>(mut self, namespaces: impl IntoIterator<Item = T>) -> Self {
        let namespaces = namespaces.into_iter().map(|namespace| normalize(namespace.as_ref()));
        self.namespaces.get_or_insert_default().extend(namespaces);
        self
    }

    /// Only tools whose name fits one of these patterns, or of those given before.
    #[must_use]
    pub fn include<T: Into<String>>(mut self, patterns: impl IntoIterator<Item = T>) -> Self {
        self.include.get_or_insert_default().extend(patterns.into_iter().map(Into::into));
        self
    }

    /// No tools whose name fits one of these patterns.
    #[must_use]
    pub fn exclude<T: Into<String>>(mut self, patterns: impl IntoIterator<Item = T>) -> Self {
        self.exclude.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Whether a tool is meant.
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

/// Whether a text fits a pattern of `*` and `?`. It takes no more than the product of both lengths.
///
/// The crates for this are made for paths, where `*` stops at a `/` and braces and brackets mean more; tool
/// names have none of these characters.
fn matches_glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Behind the last `*`, and where in the text it was met: what it stands for grows from there.
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
        fn a_pattern_means_what_its_regular_expression_means(pattern in "[ab*?.-]{0,8}", text in "[ab.-]{0,10}") {
            let regex = regex_lite::escape(&pattern).replace(r"\*", ".*").replace(r"\?", ".");
            let regex = Regex::new(&format!("^{regex}$")).unwrap();
            prop_assert_eq!(matches_glob(&pattern, &text), regex.is_match(&text), "{} {}", pattern, text);
        }
    }

    #[test]
    fn many_stars_take_no_more_time_than_both_lengths_multiplied() {
        assert!(!matches_glob(&"*a".repeat(200), &"a".repeat(199)));
        assert!(matches_glob(&"*a".repeat(200), &"a".repeat(400)));
    }
}
