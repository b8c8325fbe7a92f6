//! What a tool says about its arguments, told in the model's names for them.

use super::super::Tool;
use super::{Change, Inner};
use crate::args::unknown;
use crate::error::{ToolError, Violation, ViolationKind};

impl Inner {
    /// The error of a call as the model can understand it. What it says about values that the model does not give
    /// becomes a detail for the program.
    #[cold]
    pub(super) fn told(&self, tool: &dyn Tool, arguments: &str, error: ToolError) -> ToolError {
        if error.violations().is_empty() {
            return error;
        }
        let stand_ins = self.stand_ins(tool, arguments);
        let mut unseen = Vec::new();
        let told = error.map_violations(|violation| {
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
            return told;
        }
        let details = unseen.join("; ");
        if told.violations().is_empty() {
            return ToolError::failed("the program gave it a value that it does not take")
                .with_details(details);
        }
        told.with_details(details)
    }

    /// The changed argument that a path leads into, and the way from there.
    fn changed_at<'a>(&self, path: &'a str) -> Option<(&Change, &'a str)> {
        let leads_into = |name: &&String| {
            let rest = path.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let name = self.names.iter().filter(leads_into).max_by_key(|name| name.len())?;
        self.change(name).zip(path.strip_prefix(name.as_str()))
    }
}
