//! Agents that work at the same time.

use super::check_names;
use crate::agent::{Agent, AgentEnd, RunAgent};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::Limits;
use crate::message::{AssistantMessage, Message};
use crate::run::Run;
use tokio::task::JoinSet;

/// Agents that work at the same time. Each has a copy of the conversation as it was, so that none sees what the others
/// say; when all have ended, what each has said is added in the order of the agents, and their answers together are the
/// answer. What they remember they share: each change reaches the session when it is made.
///
/// One that fails does not stop the others. What went wrong is then said in its name, so that whoever goes on with the
/// conversation knows what is missing. Only if all have failed, the run fails with [`AgentError::Branches`].
///
/// ```
/// use toolkit_agent::{Agent, ParallelAgent, ScriptedModel};
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
    name: String,
    description: String,
    agents: Vec<Agent>,
    limits: Limits,
}

impl ParallelAgent {
    /// These agents, at the same time.
    #[must_use]
    pub fn new(name: impl Into<String>, agents: impl IntoIterator<Item = Agent>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            agents: agents.into_iter().collect(),
            limits: Limits::default(),
        }
    }

    /// Sets what the team is for, as other agents read it.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets how far a run may go, all agents together.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Runs all agents, each in a copy of the conversation. A panic of one is its failure.
    async fn branches(&self, conversation: &Conversation, run: &Run) -> Vec<Branch> {
        let mut running = JoinSet::new();
        for (position, agent) in self.agents.iter().cloned().enumerate() {
            let (mut copy, run) = (conversation.clone(), run.branch());
            running.spawn(async move {
                let end = agent.take_part(&mut copy, &run).await;
                (position, Branch { said: Some(copy), end })
            });
        }
        let lost = || Branch { said: None, end: Err(AgentError::Other("the agent has panicked".to_owned())) };
        let mut branches: Vec<Branch> = self.agents.iter().map(|_| lost()).collect();
        while let Some(ended) = running.join_next().await {
            if let Ok((position, branch)) = ended
                && let Some(place) = branches.get_mut(position)
            {
                *place = branch;
            }
        }
        branches
    }

    async fn together(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentEnd, AgentError> {
        conversation.settle();
        let begin = conversation.messages().len();
        let branches = self.branches(conversation, run).await;
        let (mut texts, mut failed, mut escalate) = (Vec::new(), Vec::new(), false);
        for (agent, branch) in self.agents.iter().zip(branches) {
            if let Some(said) = branch.said {
                conversation.add_branch(said, begin);
            }
            match branch.end {
                Ok(end) => {
                    escalate |= end.escalate;
                    texts.push(end.text);
                }
                Err(error) => {
                    conversation.push(failure(agent, &error));
                    run.tell(|| RunEvent::BranchFailed {
                        agent: agent.name().to_owned(),
                        error: error.to_string(),
                    });
                    failed.push((agent.name().to_owned(), error));
                }
            }
        }
        run.check_cancelled()?;
        if texts.is_empty() && !failed.is_empty() {
            return Err(AgentError::Branches(failed));
        }
        texts.retain(|text| !text.is_empty());
        Ok(AgentEnd { escalate, ..AgentEnd::new(self.name.as_str(), texts.join("\n\n")) })
    }
}

/// What came of one agent.
struct Branch {
    /// The copy of the conversation; `None` if it was lost.
    said: Option<Conversation>,
    end: Result<AgentEnd, AgentError>,
}

fn failure(agent: &Agent, error: &AgentError) -> Message {
    let text = AssistantMessage::text(format!("(No answer: {error})"));
    Message::Assistant(AssistantMessage { agent: agent.name().to_owned(), ..text })
}

impl RunAgent for ParallelAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn sub_agents(&self) -> &[Agent] {
        &self.agents
    }

    fn limits(&self) -> Limits {
        self.limits.clone()
    }

    async fn run(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentEnd, AgentError> {
        check_names(&self.name, &self.agents)?;
        run.tell(|| RunEvent::AgentStarted { agent: self.name.clone() });
        let end = self.together(conversation, run).await;
        run.tell(|| RunEvent::AgentEnded { agent: self.name.clone() });
        end
    }
}
