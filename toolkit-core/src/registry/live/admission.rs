//! Checks that every tool passes before a live registry shows it.

use crate::error::{BuildError, BuildProblem};
use crate::registry::ToolRegistry;
use crate::tool::{Tool, ToolDefinition};
use std::sync::Arc;

/// What a [check](super::LiveRegistry::add_check) says of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Admission {
    /// The tool may be used.
    Accept,
    /// The tool is registered, but disabled for this reason.
    Disable(String),
    /// The whole change is refused, for this reason.
    Refuse(String),
}

pub(super) type Check = dyn Fn(&ToolDefinition, &ToolRegistry) -> Admission + Send + Sync;

/// Shows every tool of `after` that is not in `before` to all checks. The first that does not accept it decides,
/// and a refusal goes before all.
pub(super) fn admit(
    checks: &[Arc<Check>],
    before: &ToolRegistry,
    after: &mut ToolRegistry,
) -> Result<(), BuildError> {
    if checks.is_empty() {
        return Ok(());
    }
    let mut problems = Vec::new();
    let mut disabled = Vec::new();
    for tool in after.every_tool_sorted() {
        let definition = tool.definition();
        let name = definition.name.as_str();
        if before.get_any(name).is_some_and(|earlier| Arc::ptr_eq(earlier, tool)) {
            continue;
        }
        let mut reason = None;
        for check in checks {
            match check(definition, after) {
                Admission::Accept => {}
                Admission::Disable(why) => reason = reason.or(Some(why)),
                Admission::Refuse(why) => problems.push(BuildProblem::Refused {
                    tool: name.to_owned(),
                    reason: why,
                    defined_at: definition.metadata.defined_at,
                }),
            }
        }
        disabled.extend(reason.map(|reason| (name.to_owned(), reason)));
    }
    BuildError::unless_empty(problems)?;
    disabled.into_iter().try_for_each(|(name, reason)| after.disable(&name, &reason))
}
