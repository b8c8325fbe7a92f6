//! The continuation of an unfinished turn by a run.

use super::agent::LlmAgent;
use super::answer::FinalAnswer;
use super::restart::Restart;
use crate::agent::{Run, RunAgent};
use crate::conversation::{Conversation, Turn};
use crate::error::AgentError;

impl LlmAgent {
    /// Returns how to continue the calls of an unfinished turn of this agent. Returns `None` if there are no
    /// such calls.
    pub(super) fn restart(
        &self,
        conversation: &Conversation,
        run: &Run,
        answer: &FinalAnswer<'_>,
    ) -> Result<Option<Restart>, AgentError> {
        let of_agent = |turn: &&Turn| turn.message().agent == self.name() && !turn.message().calls.is_empty();
        let Some(turn) = conversation.unfinished().filter(of_agent) else { return Ok(None) };
        let tools = self.tools.current()?;
        Ok(Some(Restart::new(turn, conversation, run, &tools.registry(), answer)))
    }
}
