//! What encloses the agent of an event.

use super::RunEvent;
use serde::{Deserialize, Serialize};
use toolkit_core::CallId;

/// A tool call or parallel agent around other agents.
///
/// In JSON: `{"call": "call_1"}` or `{"branch": 0}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunScope {
    /// An agent called as a tool. If an earlier call of the message has the same id, `#` and the index of
    /// the call follow the id.
    Call(CallId),
    /// A parallel agent, by its index in the group.
    Branch(usize),
}

impl RunEvent {
    /// Returns the enclosing tool calls and parallel agents, outermost first.
    #[must_use]
    pub fn within(&self) -> &[RunScope] {
        match self {
            Self::AgentStarted { within, .. }
            | Self::ModelCalled { within, .. }
            | Self::RequestLosses { within, .. }
            | Self::Text { within, .. }
            | Self::Reasoning { within, .. }
            | Self::CallStarted { within, .. }
            | Self::CallArguments { within, .. }
            | Self::Tool { within, .. }
            | Self::HostedCall { within, .. }
            | Self::Result { within, .. }
            | Self::CallPending { within, .. }
            | Self::Message { within, .. }
            | Self::ModelRetried { within, .. }
            | Self::AnswerBroken { within, .. }
            | Self::Compacted { within, .. }
            | Self::Guardrail { within, .. }
            | Self::Transferred { within, .. }
            | Self::BranchFailed { within, .. }
            | Self::AgentEnded { within, .. }
            | Self::Custom { within, .. } => within,
            Self::Finished { .. } | Self::Stopped { .. } | Self::Waiting { .. } => &[],
        }
    }
}
