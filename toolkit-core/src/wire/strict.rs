//! Which tools of a request are strict: decided for all of them together.

use super::{ApiFormat, StrictTools};
use crate::tool::ToolDefinition;
use std::fmt;

/// A tool that should be strict and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotStrict {
    /// The tool's name.
    pub tool: String,
    /// Why the provider would refuse it.
    pub reason: String,
}

impl fmt::Display for NotStrict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool `{}` is not strict: {}", self.tool, self.reason)
    }
}

/// What was decided.
#[derive(Debug, Default)]
pub(super) struct Plan {
    strict: Vec<bool>,
    refused: Vec<NotStrict>,
}

impl Plan {
    pub(super) fn is_strict(&self, index: usize) -> bool {
        self.strict.get(index).copied().unwrap_or(false)
    }

    pub(super) fn refused(&self) -> Vec<NotStrict> {
        self.refused.clone()
    }
}

pub(super) fn plan(_format: ApiFormat, _definitions: &[&ToolDefinition], _wanted: StrictTools) -> Plan {
    Plan::default()
}
