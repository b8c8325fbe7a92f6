//! Translation of errors into the model's argument names.

use super::super::ArgumentTransform;
use super::Arguments;
use crate::error::{ToolError, Violation};

impl Arguments {
    /// Translates the violations of an error into the model's argument names.
    ///
    /// Those of hidden arguments become details for the program.
    #[cold]
    pub(super) fn translated(&self, error: ToolError) -> ToolError {
        if error.violations().is_empty() {
            return error;
        }
        let mut unseen = Vec::new();
        let translated = error.map_violations(|violation| self.translated_violation(violation, &mut unseen));
        if unseen.is_empty() {
            return translated;
        }
        let details = unseen.join("; ");
        if translated.violations().is_empty() {
            return ToolError::failed("the program gave it a value that it does not take")
                .with_details(details);
        }
        translated.with_details(details)
    }

    /// Returns the violation with the model's name of the argument. One of a hidden argument is added to
    /// `unseen`.
    fn translated_violation(&self, violation: Violation, unseen: &mut Vec<String>) -> Option<Violation> {
        let Some((change, rest)) = self.changed_at(&violation.path) else { return Some(violation) };
        let Some(shown) = change.shown_as() else {
            unseen.push(violation.to_string());
            return None;
        };
        Some(Violation::new(format!("{shown}{rest}"), violation.kind, violation.message))
    }

    /// Returns the transform of the first argument in `path`, and the rest of `path`.
    fn changed_at<'a>(&self, path: &'a str) -> Option<(&ArgumentTransform, &'a str)> {
        let mut longest: Option<(&str, &str)> = None;
        for name in &self.names {
            let Some(rest) = path.strip_prefix(name.as_str()) else { continue };
            if !rest.is_empty() && !rest.starts_with(['.', '[']) {
                continue;
            }
            if longest.is_none_or(|(other, _)| name.len() > other.len()) {
                longest = Some((name, rest));
            }
        }
        let (name, rest) = longest?;
        Some((self.changes.of(name)?, rest))
    }
}
