//! Checks of new tools before a live registry publishes them.

use crate::definition::ToolDefinition;
use crate::error::{BuildError, ToolFault};
use crate::registry::{RegisteredTool, ToolRegistry};
use std::sync::Arc;

/// The outcome of a tool's [check](super::LiveRegistry::add_check).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckOutcome {
    /// The tool is registered.
    Accept,
    /// The tool is registered but disabled, for this reason.
    Disable(String),
    /// The change is refused, for this reason.
    Refuse(String),
}

pub(super) type Check = dyn Fn(&ToolDefinition, &ToolRegistry) -> CheckOutcome + Send + Sync;

/// Runs all checks on every new or replaced tool in the changed registry `after`.
///
/// A refusal fails the whole change. If several checks disable a tool, the first reason counts.
pub(super) fn run_checks(
    checks: &[Arc<Check>],
    before: &ToolRegistry,
    after: &mut ToolRegistry,
) -> Result<(), BuildError> {
    if checks.is_empty() {
        return Ok(());
    }
    let mut problems = Vec::new();
    let mut disabled = Vec::new();
    for RegisteredTool { tool, .. } in after.entries() {
        let definition = tool.definition();
        let name = definition.name.as_str();
        if before.get_any(name).is_some_and(|earlier| Arc::ptr_eq(earlier, tool)) {
            continue;
        }
        let mut reason = None;
        for check in checks {
            match check(definition, after) {
                CheckOutcome::Accept => {}
                CheckOutcome::Disable(why) => reason = reason.or(Some(why)),
                CheckOutcome::Refuse(reason) => {
                    problems.push(definition.problem(ToolFault::Refused { reason }));
                }
            }
        }
        if let Some(reason) = reason {
            disabled.push((name.to_owned(), reason));
        }
    }
    BuildError::unless_empty(problems)?;
    for (name, reason) in disabled {
        after.disable(&name, &reason)?;
    }
    Ok(())
}
