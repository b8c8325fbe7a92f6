//! Errors about arguments, in the model's names.

use super::super::Tool;
use super::{Change, Inner};
use crate::args::unknown;
use crate::error::{ToolError, Violation, ViolationKind};

impl Inner {
    /// Translates an error into the model's names. Violations of hidden values become details for the program.
    #[cold]
    pub(super) fn translated(&self, tool: &dyn Tool, arguments: &str, error: ToolError) -> ToolError {
        if error.violations().is_empty() {
            return error;
        }
        let stand_ins = self.stand_ins(tool, arguments);
        let mut unseen = Vec::new();
        let translated = error.map_violations(|violation| {
            let mut stood_in = stand_ins.iter().filter(|(written, _)| *written == violation.path);
            if violation.kind == ViolationKind::Unknown
                && let Some((_, given)) = stood_in.next()
            {
                return Some(unknown(given, self.shown()));
            }
            match self.changed_at(&violation.path) {
                Some((Change { shown_as: Some(shown), .. }, rest)) => {
                    Some(Violation::new(format!("{shown}{rest}"), violation.kind, violation.message))
                }
                Some((Change { shown_as: None, .. }, _)) => {
                    unseen.push(violation.to_string());
                    None
                }
                None => Some(violation),
            }
        });
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

    /// Returns the transformed argument that a path leads into, and the rest of the path.
    fn changed_at<'a>(&self, path: &'a str) -> Option<(&Change, &'a str)> {
        let leads_into = |name: &&String| {
            let rest = path.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let name = self.names.iter().filter(leads_into).max_by_key(|name| name.len())?;
        self.changes.of(name).zip(path.strip_prefix(name.as_str()))
    }
}
