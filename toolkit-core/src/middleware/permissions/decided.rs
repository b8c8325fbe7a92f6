//! Approvals that are decided before their calls run.

use super::Approval;
use crate::call::{CallId, ToolCall};
use std::collections::BTreeMap;

/// Approvals decided before their calls run.
///
/// Add them to a run as an [extension](crate::RunContext::with_extension). [`Permissions`](super::Permissions) use them and do not
/// ask the handler.
///
/// An approval holds for calls with the same id, tool name and arguments, also if the tool belongs to a
/// nested dispatcher. It does not hold for calls that a tool makes itself.
///
/// ```
/// use toolkit_ai::{RunContext, ToolCall};
/// use toolkit_ai::middleware::{Approval, DecidedApprovals};
///
/// let pending = ToolCall::new("call_1", "pay", r#"{"amount": 5}"#);
/// let decided = DecidedApprovals::new().with(&pending, Approval::Approve);
/// let run = RunContext::new().with_extension(decided);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct DecidedApprovals(BTreeMap<CallId, Vec<(ToolCall, Approval)>>);

impl DecidedApprovals {
    /// Creates an empty set of approvals.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the approval for a call, replacing an earlier one.
    pub fn with(mut self, call: &ToolCall, approval: Approval) -> Self {
        let of_id = self.0.entry(call.id.clone()).or_default();
        of_id.retain(|(known, _)| !is_same(known, &call.name, call.arguments.as_str()));
        of_id.push((call.clone(), approval));
        self
    }

    pub(crate) fn of(&self, id: &CallId, name: &str, arguments: &str) -> Option<&Approval> {
        let mut of_id = self.0.get(id)?.iter();
        of_id.find(|(call, _)| is_same(call, name, arguments)).map(|(_, approval)| approval)
    }
}

fn is_same(call: &ToolCall, name: &str, arguments: &str) -> bool {
    call.name == name && call.arguments.as_str() == arguments
}

#[derive(Debug, Clone)]
pub(crate) struct DecidedApproval(pub(crate) Approval);
