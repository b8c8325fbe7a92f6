//! Agents that run in parallel.

use super::concurrent::Concurrent;
use super::workflow::{Workflow, workflow_agent};
use crate::agent::{Agent, Run, RunAgent, agent_facts};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::helpers::{BoxFuture, lock};
use crate::limits::Limits;
use crate::output::AgentOutput;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Parallel agents, each with a copy of the conversation.
///
/// At the end, their messages join the conversation in the order of the agents, and their answers,
/// separated by blank lines, become the answer. All agents see changed session values at once.
///
/// A [resumed](Agent::resume) run continues the agents that had not finished. Unless they are the same in
/// the same order, it ends with [`AgentError::TeamChanged`].
///
/// The agents run concurrently in one task, and their tool calls in tasks of their own.
///
/// If an agent's input guardrail replaces or blocks an input, the other agents still read the original.
/// Give such a [`Guardrail`](crate::guardrail::Guardrail) to all agents of the group, or to an agent before
/// it. After the group, the conversation contains the replacement. If agents have replaced an input
/// differently, it is removed.
///
/// The failure of an agent, for example at its own limit, does not stop the others: an assistant message
/// under its name reports the error. The run fails with [`AgentError::Branches`] if all agents fail, and
/// with [`AgentError::Limit`] if it reaches a limit.
///
/// ```
/// use toolkit_ai::agent::{Agent, team::ParallelAgent};
/// use toolkit_ai::llm::ScriptedModel;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let news = Agent::builder(ScriptedModel::new().text("Nothing new.")).name("news").build()?;
/// let weather = Agent::builder(ScriptedModel::new().text("Sunny.")).name("weather").build()?;
/// let output = Agent::from(ParallelAgent::new("morning", [news, weather])).run("Good morning!").await?;
/// assert_eq!(output.text, "Nothing new.\n\nSunny.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[doc(alias("fan_out"))]
#[derive(Debug, Clone)]
pub struct ParallelAgent {
    workflow: Workflow,
}

workflow_agent!(ParallelAgent {
    /// Creates a group of parallel agents.
});

/// The copies of ended or dropped agents, by index.
type EndedBranches = Mutex<BTreeMap<usize, Conversation>>;

/// The copy of the conversation for the agent at `index`. The drop adds it to `ended`.
struct BranchCopy<'a> {
    index: usize,
    copy: Conversation,
    ended: &'a EndedBranches,
}

impl Drop for BranchCopy<'_> {
    fn drop(&mut self) {
        lock(self.ended).insert(self.index, std::mem::take(&mut self.copy));
    }
}

/// The conversation of a group. The drop stores the copies in it, so that a dropped run can be resumed.
struct Group<'a> {
    conversation: &'a mut Conversation,
    ended: &'a EndedBranches,
}

impl Group<'_> {
    fn keep(&mut self) {
        for (index, copy) in std::mem::take(&mut *lock(self.ended)) {
            self.conversation.return_branch(index, copy);
        }
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        self.keep();
    }
}

/// Returns whether the error of one agent ends the group, to be continued in a resumed run.
fn ends_group(error: &AgentError, run: &Run) -> bool {
    match error {
        AgentError::Interrupted { .. }
        | AgentError::Blocked { .. }
        | AgentError::Cancelled
        | AgentError::Store(_)
        | AgentError::TeamChanged(_)
        | AgentError::Build(_) => true,
        // A limit of the agent itself does not end the group.
        AgentError::Limit(limit) => run.0.budget.has_exceeded(limit),
        _ => false,
    }
}

/// Answers in the copy for a parallel agent, unless the copy has an answer.
async fn answer(agent: &Agent, copy: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
    if let Some(output) = copy.finished() {
        return Ok(output);
    }
    if copy.has_answered() {
        copy.end_run();
        return copy.finished().ok_or_else(|| AgentError::Other("the agent has no answer".to_owned()));
    }
    let output = agent.join_run(copy, run).await;
    match &output {
        Ok(_) => drop(copy.end_run()),
        Err(error) => copy.stop_run(error.stop()),
    }
    let saved = run.save(copy).await;
    let saved_output = match saved {
        Err(error) if output.is_ok() => Err(error),
        _ => output,
    };
    match saved_output {
        Err(error) if error.keeps_the_turn() => Err(error),
        // The pending calls of the agent can still be decided.
        Err(_) if !copy.pending().is_empty() => Err(AgentError::Interrupted { pending: Vec::new() }),
        output => output,
    }
}

impl ParallelAgent {
    /// Runs all agents that have not ended, and returns their outputs by index.
    async fn branches(
        &self,
        conversation: &mut Conversation,
        run: &Run,
    ) -> Result<BTreeMap<usize, Result<AgentOutput, AgentError>>, AgentError> {
        let failed = conversation.frame().map(|frame| frame.failed.clone()).unwrap_or_default();
        let ended = EndedBranches::default();
        let mut group = Group { conversation, ended: &ended };
        let mut futures: Vec<(usize, BoxFuture<'_, _>)> = Vec::new();
        for (index, agent) in self.workflow.sub_agents.iter().enumerate() {
            if failed.contains_key(&index) {
                continue;
            }
            let branch_run = run.branch(index);
            let mut branch = BranchCopy { index, copy: group.conversation.branch(index), ended: &ended };
            let answer = async move { answer(agent, &mut branch.copy, &branch_run).await };
            futures.push((index, Box::pin(answer)));
        }
        let mut branches = Concurrent::new(futures.into_iter());
        let mut outputs = BTreeMap::new();
        let mut saved = Ok(());
        while let Some((index, output)) = branches.next().await {
            group.keep();
            let output =
                output.unwrap_or_else(|| Err(AgentError::Other("the agent has panicked".to_owned())));
            if let Err(error) = &output
                && !ends_group(error, run)
            {
                group.conversation.branch_failed(index, error.to_string());
                run.emit(|| RunEvent::BranchFailed {
                    agent: self.name_of(index),
                    error: error.to_string(),
                    within: run.within(),
                });
                // Even after a failed save, the other agents finish.
                saved = saved.and(branches.alongside(run.save(group.conversation)).await);
            }
            outputs.insert(index, output);
        }
        saved.map(|()| outputs)
    }

    fn name_of(&self, index: usize) -> String {
        self.workflow.sub_agents.get(index).map(|agent| agent.name().to_owned()).unwrap_or_default()
    }

    async fn work(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        conversation.settle();
        for index in 0..self.workflow.sub_agents.len() {
            if !conversation.has_branch(index) {
                conversation.begin_branch(index);
            }
        }
        run.save(conversation).await?;
        let outputs = self.branches(conversation, run).await?;
        run.check_cancelled()?;
        for output in outputs.values() {
            if let Err(limit @ AgentError::Limit(_)) = output
                && ends_group(limit, run)
            {
                return Err(limit.clone());
            }
        }
        for output in outputs.values() {
            match output {
                Err(AgentError::Interrupted { .. }) => {
                    return Err(AgentError::Interrupted { pending: Vec::new() });
                }
                Err(AgentError::Store(error)) => return Err(error.clone().into()),
                Err(error) if error.keeps_the_turn() => return Err(error.clone()),
                _ => {}
            }
        }
        self.output(conversation, outputs)
    }

    fn output(
        &self,
        conversation: &mut Conversation,
        mut outputs: BTreeMap<usize, Result<AgentOutput, AgentError>>,
    ) -> Result<AgentOutput, AgentError> {
        let failed = conversation.frame().map(|frame| frame.failed.clone()).unwrap_or_default();
        let mut texts = Vec::new();
        let mut errors = Vec::new();
        let mut escalate = false;
        for (index, agent) in self.workflow.sub_agents.iter().enumerate() {
            let error = match (outputs.remove(&index), failed.get(&index)) {
                (Some(Ok(output)), _) => {
                    escalate |= output.escalate;
                    texts.push(output.text);
                    continue;
                }
                (Some(Err(error)), _) => error,
                (None, error) => AgentError::Other(error.cloned().unwrap_or_default()),
            };
            errors.push((agent.name().to_owned(), error));
        }
        if texts.is_empty() && !errors.is_empty() {
            // A resumed run asks all agents again.
            conversation.branches_failed();
            return Err(AgentError::Branches(errors));
        }
        texts.retain(|text| !text.is_empty());
        let output = AgentOutput::new(self.workflow.name.as_str(), texts.join("\n\n"));
        Ok(AgentOutput { escalate, ..output })
    }
}
