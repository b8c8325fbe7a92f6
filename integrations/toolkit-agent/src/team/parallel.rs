//! Agents running in parallel.

use super::workflow::{Workflow, workflow_agent};
use crate::agent::{Agent, Run, RunAgent, agent_facts};
use crate::conversation::{BranchOutcome, Conversation, Step};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::Limits;
use crate::message::{AssistantMessage, Message};
use crate::output::AgentOutput;
use std::collections::BTreeMap;
use tokio::task::JoinSet;

/// A group of parallel agents, each with a copy of the conversation.
///
/// When all agents have finished, their messages are added to the conversation in the order of the agents.
/// The answer of the group consists of the agents' answers, separated by blank lines. A change of session
/// values is visible to all agents immediately.
///
/// A [resumed](Agent::resume) run continues the agents that had not ended.
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

impl ParallelAgent {
    /// Runs each agent in a copy of the conversation, except for agents that ended before an interruption. Keeps the
    /// copies in the conversation, and returns the errors by the index of the agent.
    async fn branches(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        outcomes: &mut [Option<BranchOutcome>],
    ) -> Result<BTreeMap<usize, AgentError>, AgentError> {
        let mut tasks = JoinSet::new();
        for (index, agent) in self.workflow.sub_agents.iter().cloned().enumerate() {
            if outcomes.get(index).is_some_and(Option::is_none) {
                let mut copy = conversation.branch(index);
                let run = run.branch(index, conversation.node_of_branch(&run.0.node, index));
                tasks.spawn(async move {
                    let output = match copy.finished() {
                        Some(output) => Ok(output),
                        None => agent.join_run(&mut copy, &run).await,
                    };
                    if let Ok(output) = &output {
                        copy.end_run(output.clone());
                    }
                    let saved = run.save(&mut copy).await;
                    (index, copy, output.and_then(|output| saved.map(|()| output)))
                });
            }
        }
        let mut errors = BTreeMap::new();
        while let Some(ended) = tasks.join_next().await {
            let Ok((index, copy, output)) = ended else { continue };
            conversation.keep_branch(index, copy);
            let outcome = match output {
                Ok(output) => Some(BranchOutcome::Answered(output)),
                Err(error) => {
                    let is_over = !matches!(error, AgentError::Interrupted { .. } | AgentError::Cancelled);
                    let text = error.to_string();
                    errors.insert(index, error);
                    is_over.then_some(BranchOutcome::Failed(text))
                }
            };
            if let Some(place) = outcomes.get_mut(index) {
                *place = outcome;
            }
            conversation.set_step(Step::Parallel(outcomes.to_vec()));
            run.save(conversation).await?;
        }
        Ok(errors)
    }

    async fn work(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        conversation.settle();
        let agents = &self.workflow.sub_agents;
        let mut outcomes = match conversation.enter(&self.workflow.name) {
            Some(Step::Parallel(outcomes)) if outcomes.len() == agents.len() => outcomes,
            _ => vec![None; agents.len()],
        };
        conversation.set_step(Step::Parallel(outcomes.clone()));
        run.save(conversation).await?;
        let mut errors = self.branches(conversation, run, &mut outcomes).await?;
        run.check_cancelled()?;
        if errors.values().any(|error| matches!(error, AgentError::Interrupted { .. })) {
            return Err(AgentError::Interrupted { pending: Vec::new() });
        }
        let (mut texts, mut failed, mut escalate) = (Vec::new(), Vec::new(), false);
        for (index, (agent, outcome)) in agents.iter().zip(outcomes).enumerate() {
            if let Some(copy) = conversation.take_branch(index) {
                conversation.add_branch(copy);
            }
            let error = match outcome {
                Some(BranchOutcome::Answered(output)) => {
                    escalate |= output.escalate;
                    texts.push(output.text);
                    continue;
                }
                Some(BranchOutcome::Failed(text)) => errors.remove(&index).unwrap_or(AgentError::Other(text)),
                None => {
                    let panicked = || AgentError::Other("the agent has panicked".to_owned());
                    errors.remove(&index).unwrap_or_else(panicked)
                }
            };
            let agent = agent.name().to_owned();
            let text = AssistantMessage::text(format!("(No answer: {error})"));
            conversation.push(Message::Assistant(AssistantMessage { agent: agent.clone(), ..text }));
            run.emit(|| RunEvent::BranchFailed { agent: agent.clone(), error: error.to_string() });
            failed.push((agent, error));
        }
        if texts.is_empty() && !failed.is_empty() {
            // A resumed run asks all agents again.
            conversation.set_step(Step::Parallel(vec![None; agents.len()]));
            return Err(AgentError::Branches(failed));
        }
        texts.retain(|text| !text.is_empty());
        let output = AgentOutput::new(self.workflow.name.as_str(), texts.join("\n\n"));
        Ok(AgentOutput { escalate, ..output })
    }
}
