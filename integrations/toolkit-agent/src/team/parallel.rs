//! Agents running in parallel.

use super::workflow::{Workflow, workflow_agent};
use crate::agent::{Agent, AgentOutput, Run, RunAgent, agent_facts};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::Limits;
use crate::message::{AssistantMessage, Message};
use tokio::task::JoinSet;

/// A group of parallel agents, each with a copy of the conversation.
///
/// When all agents have finished, their messages are added to the conversation in the order of the agents.
/// The answer of the group consists of the agents' answers, separated by blank lines. A change of session
/// values is visible to all agents immediately.
///
/// The failure of an agent does not stop the other agents. An assistant message under the name of the failed
/// agent reports the error. The run fails with [`AgentError::Branches`] only if all agents fail.
///
/// ```
/// use toolkit_agent::{Agent, ScriptedModel, team::ParallelAgent};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let news = Agent::builder(ScriptedModel::new().text("Nothing new.")).name("news").build()?;
/// let weather = Agent::builder(ScriptedModel::new().text("Sunny.")).name("weather").build()?;
/// let output = Agent::from(ParallelAgent::new("morning", [news, weather])).run("Good morning!").await?;
/// assert_eq!(output.text, "Nothing new.\n\nSunny.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct ParallelAgent {
    workflow: Workflow,
}

workflow_agent!(ParallelAgent {
    /// Creates a group of parallel agents.
});

/// The result of one agent.
struct Branch {
    /// The agent's copy of the conversation, or `None` if the agent panicked.
    conversation: Option<Conversation>,
    output: Result<AgentOutput, AgentError>,
}

impl ParallelAgent {
    /// Runs each agent in a copy of the conversation. If an agent panics, its branch has an error.
    async fn branches(&self, conversation: &Conversation, run: &Run) -> Vec<Branch> {
        let agents = &self.workflow.sub_agents;
        let mut tasks = JoinSet::new();
        for (index, agent) in agents.iter().cloned().enumerate() {
            let (mut copy, run) = (conversation.clone(), run.branch());
            tasks.spawn(async move {
                let output = agent.join_run(&mut copy, &run).await;
                (index, Branch { conversation: Some(copy), output })
            });
        }
        let panicked = || Err(AgentError::Other("the agent has panicked".to_owned()));
        let lost = |_| Branch { conversation: None, output: panicked() };
        let mut branches: Vec<Branch> = agents.iter().map(lost).collect();
        while let Some(finished) = tasks.join_next().await {
            if let Ok((index, branch)) = finished
                && let Some(place) = branches.get_mut(index)
            {
                *place = branch;
            }
        }
        branches
    }

    async fn work(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        conversation.settle();
        let begin = conversation.messages().len();
        let branches = self.branches(conversation, run).await;
        let (mut texts, mut failed, mut escalate) = (Vec::new(), Vec::new(), false);
        for (agent, branch) in self.workflow.sub_agents.iter().zip(branches) {
            if let Some(copy) = branch.conversation {
                conversation.add_branch(copy, begin);
            }
            let agent = agent.name().to_owned();
            match branch.output {
                Ok(output) => {
                    escalate |= output.escalate;
                    texts.push(output.text);
                }
                Err(error) => {
                    let text = AssistantMessage::text(format!("(No answer: {error})"));
                    conversation.push(Message::Assistant(AssistantMessage { agent: agent.clone(), ..text }));
                    run.emit(|| RunEvent::BranchFailed { agent: agent.clone(), error: error.to_string() });
                    failed.push((agent, error));
                }
            }
        }
        run.check_cancelled()?;
        if texts.is_empty() && !failed.is_empty() {
            return Err(AgentError::Branches(failed));
        }
        texts.retain(|text| !text.is_empty());
        let output = AgentOutput::new(self.workflow.name.as_str(), texts.join("\n\n"));
        Ok(AgentOutput { escalate, ..output })
    }
}
