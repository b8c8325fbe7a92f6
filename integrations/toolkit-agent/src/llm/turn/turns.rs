//! The turns of an agent with a model, from the input to the answer.

use super::turn_runner::{TurnOutcome, TurnRunner};
use crate::agent::{Agent, Run, RunAgent, agent_facts};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::helpers::BoxFuture;
use crate::limits::Limits;
use crate::llm::agent::LlmAgent;
use crate::llm::scope::TurnScope;
use crate::output::AgentOutput;
use crate::span::AgentSpan;
use toolkit_llm::ChatModel as _;

impl RunAgent for LlmAgent {
    agent_facts!(settings);

    async fn run(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        AgentSpan::with_model(self.settings.model.provider(), self.settings.model.name());
        let frame = conversation.frame();
        // The run may have stopped after the last turn, or after the agent that has taken over.
        let answered = match frame {
            Some(frame) if frame.transfer.is_some() => frame.output.clone(),
            Some(frame) => frame.answer.clone(),
            None => None,
        };
        let is_repair = frame.is_some_and(|frame| frame.is_repair);
        let transferred = frame.and_then(|frame| frame.transfer.clone());
        let is_saved = transferred.is_some();
        let outcome = match (answered, transferred) {
            (Some(output), _) => Ok(TurnOutcome::Answer(output)),
            (None, Some(to)) => Ok(TurnOutcome::Transfer(to)),
            (None, None) => self.boxed_turns(conversation, run, is_repair).await,
        };
        match outcome? {
            TurnOutcome::Answer(output) => Ok(output),
            TurnOutcome::Transfer(to) => {
                if is_saved {
                    self.emit_transfer(&to, run);
                }
                let below = self.sub_agents().iter().find_map(|agent| agent.find(&to));
                let found = below.or_else(|| run.root().find(&to));
                let agent = match found {
                    Some(agent) => agent,
                    None if is_saved => return Err(AgentError::TeamChanged(handed_over(&to))),
                    None => return Err(AgentError::UnknownAgent(to)),
                };
                agent.join_run(conversation, &run.without_limits_of(self.name())).await
            }
        }
    }
}

fn handed_over(to: &str) -> String {
    format!(
        "the run was handed over to agent `{to}`, which the team no longer has; resume the run with the earlier program, or \
         abandon it"
    )
}

impl LlmAgent {
    /// Emits that the agent ends, and that another one takes over.
    pub(super) fn emit_transfer(&self, to: &str, run: &Run) {
        let agent = || self.name().to_owned();
        run.emit(|| RunEvent::AgentEnded { agent: agent(), within: run.within() });
        run.emit(|| RunEvent::Transferred { from: agent(), to: to.to_owned(), within: run.within() });
    }

    /// Boxes the future of [`turns`](Self::turns), because a chain of transfers nests them. Not inlined:
    /// otherwise, the stack would hold an unboxed future for each agent of the chain.
    #[inline(never)]
    fn boxed_turns<'a>(
        &'a self,
        conversation: &'a mut Conversation,
        run: &'a Run,
        is_repair: bool,
    ) -> BoxFuture<'a, Result<TurnOutcome, AgentError>> {
        Box::pin(self.turns(conversation, run, is_repair))
    }

    /// Calls the model and runs its tool calls, until a turn gives the answer or transfers the
    /// conversation.
    async fn turns(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        is_repair: bool,
    ) -> Result<TurnOutcome, AgentError> {
        let session = conversation.session();
        let scope = TurnScope { run, agent: self.name(), session: &session };
        let mut runner = TurnRunner::new(self, scope, is_repair);
        if let Some(output) = runner.begin(conversation).await? {
            return Ok(TurnOutcome::Answer(output));
        }
        loop {
            if let Some(outcome) = runner.turn(conversation).await? {
                return Ok(outcome);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<'a, F>(_: impl Fn(&'a LlmAgent, &'a mut Conversation, &'a Run, bool) -> F) -> usize {
        size_of::<F>()
    }

    /// The future of a run is moved into a box once, and a function that takes a future by value can make
    /// it four times as large.
    #[test]
    fn the_future_of_a_run_is_small() {
        let size = size_of_future(LlmAgent::turns);
        assert!(size < 10_000, "{size} bytes");
    }
}
