//! Patterns for tool names, used by permissions, limits, caches and filters.

use crate::error::{BuildError, BuildProblem};
use crate::name::{CALL_DEFERRED, MAX_NAME_LENGTH, ToolName, normalize};

/// A pattern for the names of tools: `*` matches any number of characters, and `?` exactly one.
///
/// Glob crates match paths: there, `*` stops at `/`, and braces and brackets have a special meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamePattern(Box<str>);

impl NamePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// [`BuildError`] if no legal tool name can match the pattern, or if the pattern is `call_deferred`.
    pub(crate) fn new(pattern: impl Into<String>) -> Result<Self, BuildError> {
        let pattern = pattern.into();
        let illegal = pattern.chars().find(|c| !c.is_ascii_alphanumeric() && !"_.-*?".contains(*c));
        let message = match illegal {
            Some(illegal) => {
                format!("names have no {illegal:?}; use letters, digits, `_`, `.`, `-`, `*` and `?`")
            }
            None if pattern == CALL_DEFERRED => {
                "a call of `call_deferred` counts as a call of its target tool; name the target tools"
                    .to_owned()
            }
            None if pattern.is_empty() => "no name is empty; `*` matches every name".to_owned(),
            None if pattern.matches(|c| c != '*').count() > MAX_NAME_LENGTH => {
                format!("names have at most {MAX_NAME_LENGTH} characters; shorten it")
            }
            None => return Ok(Self(pattern.into())),
        };
        Err(BuildProblem::InvalidPattern { pattern, message }.into())
    }

    pub(crate) fn all<T: Into<String>>(
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Vec<Self>, BuildError> {
        patterns.into_iter().map(Self::new).collect()
    }

    pub(crate) fn is_name(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the full name of a tool matches, for patterns that permit something.
    ///
    /// A rule to allow `read` must not hold for `evil-read` of another registry.
    pub(crate) fn matches(&self, name: &ToolName) -> bool {
        self.matches_text(name.as_str())
    }

    /// Returns whether a name with or without its namespace matches, for patterns that restrict something.
    ///
    /// So a rule to deny `delete*` also holds for `fs-delete`.
    pub(crate) fn restricts(&self, name: &ToolName) -> bool {
        self.matches(name)
            || self.matches_text(name.method_name())
            || self.matches_text(&normalize(name.method_name()))
    }

    /// Returns a problem if the pattern permits `tools` only by their names without namespaces.
    pub(crate) fn bare_name(&self, what: &'static str, tools: &[&ToolName]) -> Option<BuildProblem> {
        if tools.iter().any(|tool| self.matches(tool)) {
            return None;
        }
        BuildProblem::bare_name(what, &self.0, tools.iter().filter(|tool| self.restricts(tool)).copied())
    }

    /// Returns a problem if the pattern is a name that no tool has.
    pub(crate) fn unknown_name(&self, what: &'static str, tools: &[&ToolName]) -> Option<BuildProblem> {
        if self.is_name() { self.unmatched(what, tools) } else { None }
    }

    pub(crate) fn unmatched(&self, what: &'static str, tools: &[&ToolName]) -> Option<BuildProblem> {
        if tools.iter().any(|tool| self.restricts(tool)) {
            return None;
        }
        Some(BuildProblem::unknown_tool(what, &self.0, tools.iter().copied()))
    }

    /// Returns whether `text` matches, in time at most proportional to the product of both lengths.
    pub(crate) fn matches_text(&self, text: &str) -> bool {
        let mut pattern = self.0.chars();
        let mut text = text.chars();
        // What follows the last `*`, which matches one more character on a mismatch.
        let mut star = None;
        loop {
            let mut after = pattern.clone();
            let mut left = text.clone();
            match (after.next(), left.next()) {
                (None, None) => return true,
                (Some('*'), _) => {
                    star = Some((after.clone(), text.clone()));
                    pattern = after;
                }
                (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                    (pattern, text) = (after, left);
                }
                _ => {
                    let Some((after, left)) = &mut star else { return false };
                    if left.next().is_none() {
                        return false;
                    }
                    (pattern, text) = (after.clone(), left.clone());
                }
            }
        }
    }
}

/// Settings for tools. The first matching pattern applies.
#[derive(Debug, Clone)]
pub(crate) struct PerTool<T>(Vec<(NamePattern, T)>);

impl<T> Default for PerTool<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> PerTool<T> {
    /// Adds `setting` for all tools with a name matching `pattern`.
    ///
    /// # Errors
    /// [`BuildError`] if no legal tool name can match the pattern.
    pub(crate) fn add(&mut self, pattern: impl Into<String>, setting: T) -> Result<(), BuildError> {
        self.0.push((NamePattern::new(pattern)?, setting));
        Ok(())
    }

    pub(crate) fn patterns(&self) -> Vec<&str> {
        self.0.iter().map(|(pattern, _)| pattern.as_str()).collect()
    }

    /// Returns the first setting that permits something to the tool.
    #[cfg(feature = "cache")]
    pub(crate) fn permission(&self, name: &ToolName) -> Option<&T> {
        for (pattern, setting) in &self.0 {
            if pattern.matches(name) {
                return Some(setting);
            }
        }
        None
    }

    /// Returns the first setting that restricts the tool.
    pub(crate) fn restriction(&self, name: &ToolName) -> Option<&T> {
        for (pattern, setting) in &self.0 {
            if pattern.restricts(name) {
                return Some(setting);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex_lite::Regex;

    fn matches(pattern: &str, name: &str) -> bool {
        NamePattern::new(pattern).unwrap().matches_text(name)
    }

    proptest! {
        #[test]
        fn a_pattern_matches_like_its_regular_expression(pattern in "[ab*?.-]{1,8}", text in "[ab.-]{0,10}") {
            let regex = regex_lite::escape(&pattern).replace(r"\*", ".*").replace(r"\?", ".");
            let regex = Regex::new(&format!("^{regex}$")).unwrap();
            prop_assert_eq!(matches(&pattern, &text), regex.is_match(&text), "{} {}", pattern, text);
        }

        #[test]
        fn a_pattern_is_accepted_exactly_if_a_legal_name_matches(pattern in "[a*?/ é]{0,6}|[?a*]{120,140}") {
            // The shortest name that could match. A lone `*` becomes one letter, because names are not
            // empty.
            let shortest = pattern.replace('*', "").replace('?', "a");
            let candidate = if shortest.is_empty() && !pattern.is_empty() { "a" } else { &shortest };
            let expected = ToolName::new(candidate).is_ok();
            let pattern = NamePattern::new(pattern);
            prop_assert_eq!(pattern.is_ok(), expected);
            if let Ok(pattern) = pattern {
                prop_assert!(pattern.matches_text(candidate));
            }
        }
    }

    #[test]
    fn many_stars_match_in_bounded_time() {
        assert!(!matches(&"*a".repeat(120), &"a".repeat(119)));
        assert!(matches(&"*a".repeat(120), &"a".repeat(128)));
    }

    #[test]
    fn a_star_matches_any_text() {
        for (text, pattern, expected) in [
            ("fs-read", "fs-read", true),
            ("fs-read", "fs-*", true),
            ("fs-read", "*", true),
            ("fs-read", "*-read", true),
            ("fs-read", "f*r*d", true),
            ("fs-read", "fs-read*", true),
            ("fs-read", "fs", false),
            ("fs-read", "*write", false),
            ("fs-read", "fs-read*d", false),
            ("fs-read", "fs?re?d", true),
            ("fs-read", "fs-read?", false),
            ("aa", "a*a", true),
            ("a", "a*a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{text} {pattern}");
        }
    }
}
