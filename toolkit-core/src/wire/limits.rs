//! What a provider refuses for its size, found before the request is sent.

use super::ApiFormat;
use super::strict::Plan;
use crate::tool::ToolDefinition;
use std::fmt;

/// A limit of the provider that the definitions of a request break.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitExceeded {
    /// The tool that breaks it; `None` if all of them together do.
    pub tool: Option<String>,
    /// What is limited, as in `tools` or `nesting depth`.
    pub what: String,
    /// How much there is.
    pub actual: usize,
    /// How much the provider takes.
    pub limit: usize,
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, what, actual, limit } = self;
        match tool {
            Some(tool) => write!(f, "tool `{tool}`: {actual} {what}, the provider takes {limit}"),
            None => write!(f, "{actual} {what}, the provider takes {limit}"),
        }
    }
}

pub(super) fn check(
    _format: ApiFormat,
    _definitions: &[&ToolDefinition],
    _plan: &Plan,
) -> Vec<LimitExceeded> {
    Vec::new()
}
