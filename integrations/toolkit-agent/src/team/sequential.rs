//! Agents one after another.

use super::workflow::{Workflow, workflow_agent};
use crate::agent::{Agent, AgentOutput, Run, RunAgent};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::limits::Limits;

/// A sequence of agents in one conversation; each reads the messages of the agents before it. The last agent gives the
/// answer. An agent that [escalates](toolkit_core::context::ActionsHandle::escalate) ends the sequence. A
/// [resumed](Agent::resume) run starts with the first agent again.
///
/// ```
/// use toolkit_agent::{Agent, ScriptedModel, team::SequentialAgent};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let writer = Agent::builder(ScriptedModel::new().text("Roses are red.")).name("writer").build()?;
/// let critic = Agent::builder(ScriptedModel::new().text("Too short.")).name("critic").build()?;
/// let team = Agent::from(SequentialAgent::new("team", [writer, critic]));
/// let output = team.run("A poem, please.").await?;
/// assert_eq!((output.text.as_str(), output.agent.as_str()), ("Too short.", "critic"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct SequentialAgent {
    workflow: Workflow,
}

workflow_agent!(SequentialAgent);

impl SequentialAgent {
    /// Creates a sequence of these agents.
    #[must_use]
    pub fn new(name: impl Into<String>, agents: impl IntoIterator<Item = Agent>) -> Self {
        Self { workflow: Workflow::new(name, agents) }
    }

    async fn work(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        run_sequence(&self.workflow, conversation, run).await
    }
}

/// Runs the agents up to the last or to an escalation.
pub(super) async fn run_sequence(
    workflow: &Workflow,
    conversation: &mut Conversation,
    run: &Run,
) -> Result<AgentOutput, AgentError> {
    let mut output = AgentOutput::new(workflow.name.as_str(), "");
    for (index, agent) in workflow.agents.iter().enumerate() {
        run.check_cancelled()?;
        let is_last = index + 1 == workflow.agents.len();
        // Only the last agent gives the final answer.
        let part = if is_last { run.clone() } else { run.with_answer_format(None) };
        output = agent.join_run(conversation, &part).await?;
        run.save(conversation).await?;
        if output.escalate {
            break;
        }
    }
    Ok(output)
}
