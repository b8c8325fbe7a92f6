//! The refusal of decisions if another agent runs in the place of an interrupted one.

use super::Run;
use crate::conversation::{Conversation, Step};
use crate::error::AgentError;
use crate::pending::PendingCall;
use std::sync::OnceLock;

/// The reason why decisions have not reached their calls. Empty if they have.
#[derive(Default)]
pub(super) struct Refused(OnceLock<String>);

impl Run {
    /// Adds an agent to the working agents of a conversation. If the agent was interrupted earlier, returns the step
    /// that it had reached.
    ///
    /// # Errors
    /// [`AgentError::InvalidDecision`] if the program has decided about calls of another agent in its place.
    pub(crate) fn enter(
        &self,
        conversation: &mut Conversation,
        agent: &str,
    ) -> Result<Option<Step>, AgentError> {
        match conversation.interrupted_instead(agent) {
            Some(other) if !self.0.decisions.is_empty() && !conversation.pending().is_empty() => {
                Err(self.refuse(other, agent))
            }
            _ => Ok(conversation.enter(agent)),
        }
    }

    /// Checks that the program has not decided about pending calls of an unfinished turn, because `agent` does not
    /// continue this turn. The turn would be lost otherwise.
    ///
    /// # Errors
    /// [`AgentError::InvalidDecision`] if it has.
    pub(crate) fn check_decisions(&self, conversation: &Conversation, agent: &str) -> Result<(), AgentError> {
        match conversation.unfinished().filter(|turn| turn.has_pending()) {
            Some(turn) if !self.0.decisions.is_empty() => Err(self.refuse(&turn.message().agent, agent)),
            _ => Ok(()),
        }
    }

    /// Checks that the program has not decided about pending calls of `gone`, which is no longer an agent of `team`.
    /// `has_pending` says whether there are such calls.
    ///
    /// # Errors
    /// [`AgentError::InvalidDecision`] if it has.
    pub(crate) fn check_gone(&self, has_pending: bool, gone: &str, team: &str) -> Result<(), AgentError> {
        if has_pending && !self.0.decisions.is_empty() { Err(self.refuse(gone, team)) } else { Ok(()) }
    }

    fn refuse(&self, other: &str, agent: &str) -> AgentError {
        let text = format!(
            "the pending calls are calls of agent `{other}`, and agent `{agent}` runs; resume with `{other}`"
        );
        AgentError::InvalidDecision(self.0.shared.refused.0.get_or_init(|| text).clone())
    }

    /// Returns the error of a run that was interrupted by these calls, or of its refused decisions.
    pub(crate) fn interrupted(&self, pending: Vec<PendingCall>) -> AgentError {
        match self.0.shared.refused.0.get() {
            Some(text) => AgentError::InvalidDecision(text.clone()),
            None => AgentError::Interrupted { pending },
        }
    }
}
