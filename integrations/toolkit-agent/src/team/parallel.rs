//! Agents that run in parallel.

use super::concurrent::Concurrent;
use super::workflow::{Workflow, workflow_agent};
use crate::agent::{Agent, Run, RunAgent, agent_facts};
use crate::conversation::{Conversation, Step};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::helpers::{BoxFuture, lock};
use crate::limits::Limits;
use crate::output::AgentOutput;
use std::collections::BTreeMap;
use std::sync::Mutex;
use toolkit_llm::AssistantMessage;

/// A group of parallel agents, each with a copy of the conversation.
///
/// When all agents have finished, their messages are added to the conversation in the order of the agents.
/// The answer of the group consists of the agents' answers, separated by blank lines. A change of session
/// values is visible to all agents immediately.
///
/// A [resumed](Agent::resume) run continues the agents that had not finished. If the program was changed, the run finds
/// its agents by their names. The messages of an agent that is gone are added after those of the other agents. An agent
/// that takes the place of an unfinished one reads its work.
///
/// The agents run concurrently in one task. Their tool calls run in tasks of their own.
///
/// If the input guardrail of an agent replaces or blocks an input, the other agents of the group still read
/// the original. Give such a [`Guardrail`](crate::guardrail::Guardrail) to all agents of the group, or to an
/// agent before the group. After the group, the conversation contains the replacement. If agents have
/// replaced an input differently, it is removed.
///
/// The failure of an agent does not stop the other agents. An assistant message under the name of the failed
/// agent reports the error. The run fails with [`AgentError::Branches`] only if all agents fail. If the run
/// reaches a limit, the group ends with [`AgentError::Limit`]. If an agent reaches its own limit, only this
/// agent fails.
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

/// The copies of agents that have ended or were dropped, by the index of the agent.
type Ended = Mutex<BTreeMap<usize, Conversation>>;

/// The copy of the conversation that the agent at `index` works on. The drop adds it to `ended`.
struct Work<'a> {
    index: usize,
    copy: Conversation,
    ended: &'a Ended,
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        lock(self.ended).insert(self.index, std::mem::take(&mut self.copy));
    }
}

/// The conversation of a group. The drop stores the copies in it, so that a dropped run can be resumed.
struct Group<'a> {
    conversation: &'a mut Conversation,
    ended: &'a Ended,
}

impl Group<'_> {
    /// Stores the copies of the agents that have ended.
    fn keep(&mut self) {
        for (index, copy) in std::mem::take(&mut *lock(self.ended)) {
            self.conversation.keep_branch(index, copy);
        }
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        self.keep();
    }
}

/// Returns whether the error of one agent ends the group of parallel agents. The agent can then continue in a
/// resumed run.
fn ends_group(error: &AgentError, run: &Run) -> bool {
    match error {
        AgentError::Interrupted { .. }
        | AgentError::Blocked { .. }
        | AgentError::Cancelled
        | AgentError::Store(_) => true,
        // A limit of the agent itself does not end the group.
        AgentError::Limit(limit) => run.0.budget.has_exceeded(limit),
        _ => false,
    }
}

/// Answers in the copy for a parallel agent, unless the agent has already answered there.
async fn answer(agent: &Agent, copy: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
    if let Some(output) = copy.finished() {
        return Ok(output);
    }
    let output = agent.join_run(copy, run).await;
    if let Ok(output) = &output {
        copy.end_run(output.clone());
    }
    let saved = run.save(copy).await;
    match output.and_then(|output| saved.map(|()| output)) {
        // The pending calls of the agent can still be decided.
        Err(_) if !copy.pending().is_empty() => Err(AgentError::Interrupted { pending: Vec::new() }),
        output => output,
    }
}

/// The copies of a group: one for each agent, and one for each agent that is gone since the run began.
struct Places {
    /// The names of the agents, by the index of the copy.
    names: Vec<String>,
    /// The index of the copy of each agent.
    of_agents: Vec<usize>,
}

impl Places {
    fn step(&self, failed: &BTreeMap<usize, String>) -> Step {
        Step::Parallel { agents: self.names.clone(), failed: failed.clone() }
    }

    /// Returns the copies that belong to no agent.
    fn gone(&self) -> impl Iterator<Item = usize> {
        (0..self.names.len()).filter(|index| !self.of_agents.contains(index))
    }

    /// Returns the indexes of all copies with the names of their agents. The agents that are gone come last.
    fn in_order(&self) -> impl Iterator<Item = (usize, &str)> {
        let indexes = self.of_agents.iter().copied().chain(self.gone());
        indexes.filter_map(|index| Some((index, self.names.get(index)?.as_str())))
    }
}

impl ParallelAgent {
    /// Finds the copy of each agent by its name. `names` are the names of the agents when the run began, or empty if it
    /// begins now. Creates copies for new agents, and abandons the unfinished work of agents that are gone.
    fn places(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        names: Vec<String>,
        failed: &BTreeMap<usize, String>,
    ) -> Result<Places, AgentError> {
        let agents = &self.workflow.sub_agents;
        let mut found: Vec<Option<usize>> = Vec::with_capacity(agents.len());
        for agent in agents {
            // An agent may have several places.
            let is_own =
                |(index, name): &(usize, &String)| *name == agent.name() && !found.contains(&Some(*index));
            found.push(names.iter().enumerate().find(is_own).map(|(index, _)| index));
        }
        for (index, name) in names.iter().enumerate().filter(|(index, _)| !found.contains(&Some(*index))) {
            run.check_gone(conversation.has_pending_branch(index), name, &self.workflow.name)?;
        }
        let begun = names.len();
        let mut places = Places { names, of_agents: Vec::with_capacity(agents.len()) };
        for (at, (agent, own)) in agents.iter().zip(&found).enumerate() {
            let is_unfinished = |at: &usize| {
                let is_free = *at < begun && !found.contains(&Some(*at)) && !failed.contains_key(at);
                is_free && !conversation.has_finished_branch(*at)
            };
            let index = own.or_else(|| Some(at).filter(is_unfinished)).unwrap_or(places.names.len());
            if let Some(name) = places.names.get_mut(index) {
                agent.name().clone_into(name);
            } else {
                places.names.push(agent.name().to_owned());
                conversation.begin_branch(index);
            }
            places.of_agents.push(index);
        }
        for index in
            places.gone().filter(|index| !conversation.has_finished_branch(*index)).collect::<Vec<_>>()
        {
            conversation.give_up_branch(index);
        }
        Ok(places)
    }

    /// Runs each agent on a copy of the conversation, and stores the copies in the conversation, also if the future
    /// is dropped. Skips agents that had failed before an interruption. Returns the outputs by the index of the copy.
    async fn branches(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        places: &Places,
        failed: &mut BTreeMap<usize, String>,
    ) -> Result<BTreeMap<usize, Result<AgentOutput, AgentError>>, AgentError> {
        let ended = Ended::default();
        let mut group = Group { conversation, ended: &ended };
        let agents = places.of_agents.iter().copied().zip(&self.workflow.sub_agents);
        let mut branches =
            Concurrent::new(agents.filter(|(index, _)| !failed.contains_key(index)).map(|(index, agent)| {
                let run = run.branch(index, group.conversation.node_of_branch(&run.0.node, index));
                let mut work = Work { index, copy: group.conversation.branch(index), ended: &ended };
                let branch: BoxFuture<'_, _> =
                    Box::pin(async move { answer(agent, &mut work.copy, &run).await });
                (index, branch)
            }));
        let mut outputs = BTreeMap::new();
        let mut saved = Ok(());
        while let Some((index, output)) = branches.next().await {
            group.keep();
            let output =
                output.unwrap_or_else(|| Err(AgentError::Other("the agent has panicked".to_owned())));
            if let Err(error) = &output
                && !ends_group(error, run)
            {
                failed.insert(index, error.to_string());
                group.conversation.set_step(places.step(failed));
                // Even after a failed save, the other agents finish.
                saved = saved.and(branches.beside(run.save(group.conversation)).await);
            }
            outputs.insert(index, output);
        }
        saved.map(|()| outputs)
    }

    async fn work(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        run.check_decisions(conversation, &self.workflow.name)?;
        conversation.settle();
        let (names, mut failed) = match run.enter(conversation, &self.workflow.name)? {
            Some(Step::Parallel { agents, failed }) => (agents, failed),
            _ => Default::default(),
        };
        let places = self.places(conversation, run, names, &failed)?;
        conversation.set_step(places.step(&failed));
        run.save(conversation).await?;
        let mut outputs = self.branches(conversation, run, &places, &mut failed).await?;
        run.check_cancelled()?;
        let is_limit = |error: &&AgentError| matches!(error, AgentError::Limit(_)) && ends_group(error, run);
        if let Some(limit) = outputs.values().filter_map(|output| output.as_ref().err()).find(is_limit) {
            return Err(limit.clone());
        }
        for output in outputs.values() {
            match output {
                Err(AgentError::Interrupted { .. }) => {
                    return Err(AgentError::Interrupted { pending: Vec::new() });
                }
                Err(AgentError::Store(error)) => return Err(error.clone().into()),
                _ => {}
            }
        }
        let mut texts = Vec::new();
        let mut errors = Vec::new();
        let mut escalate = false;
        let base = conversation.messages().len();
        let indexes = 0..places.names.len();
        let mut copies: Vec<_> = indexes.map(|index| conversation.take_branch(index)).collect();
        // A failed agent may contain a parallel group that has reached its own limit, with unfinished copies.
        copies.iter_mut().flatten().for_each(|copy| copy.give_up_work(base));
        // The input guardrails of an agent may have replaced messages in its copy.
        conversation.replace_as(copies.iter().flatten());
        for (index, agent) in places.in_order() {
            if let Some(copy) = copies.get_mut(index).and_then(Option::take) {
                conversation.add_branch(copy, base);
            }
            let error = match (outputs.remove(&index), failed.remove(&index)) {
                (Some(Ok(output)), _) => {
                    escalate |= output.escalate;
                    texts.push(output.text);
                    continue;
                }
                (Some(Err(error)), _) => error,
                (None, Some(error)) => AgentError::Other(error),
                // The agent is gone.
                (None, None) => continue,
            };
            let agent = agent.to_owned();
            let text = AssistantMessage::text(format!("(No answer: {error})"));
            conversation.push(text.by(agent.as_str()));
            run.emit(|| RunEvent::BranchFailed {
                agent: agent.clone(),
                error: error.to_string(),
                within: run.within(),
            });
            errors.push((agent, error));
        }
        if texts.is_empty() && !errors.is_empty() {
            // Removes the step, so that a resumed run asks all agents again.
            conversation.end_step();
            return Err(AgentError::Branches(errors));
        }
        texts.retain(|text| !text.is_empty());
        let output = AgentOutput::new(self.workflow.name.as_str(), texts.join("\n\n"));
        Ok(AgentOutput { escalate, ..output })
    }
}
