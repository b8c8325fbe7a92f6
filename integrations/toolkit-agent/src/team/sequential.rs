//! Agents that work one after another.

use super::check_names;
use crate::agent::{Agent, AgentEnd, RunAgent};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::Limits;
use crate::run::Run;

/// Agents that work one after another in the same conversation, so that each knows what those before it have said. The
/// answer is that of the last one. One that [escalates](toolkit::context::ActionsHandle::escalate) ends the sequence. A
/// run that is [resumed](Agent::resume) begins with the first of them again.
///
/// ```
/// use toolkit_agent::{Agent, ScriptedModel, SequentialAgent};
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
    name: String,
    description: String,
    agents: Vec<Agent>,
    limits: Limits,
}

impl SequentialAgent {
    /// These agents, one after another.
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
}

impl RunAgent for SequentialAgent {
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
        let end = one_after_another(&self.name, &self.agents, conversation, run).await;
        run.tell(|| RunEvent::AgentEnded { agent: self.name.clone() });
        end
    }
}

/// What the last of the agents has answered, or the one that has escalated.
pub(super) async fn one_after_another(
    name: &str,
    agents: &[Agent],
    conversation: &mut Conversation,
    run: &Run,
) -> Result<AgentEnd, AgentError> {
    let mut end = AgentEnd::new(name, "");
    for (at, agent) in agents.iter().enumerate() {
        run.check_cancelled()?;
        let is_last = at + 1 == agents.len();
        // The form of an answer is that of the last one.
        let part = if is_last { run.clone() } else { run.with_form(None) };
        end = agent.take_part(conversation, &part).await?;
        run.save(conversation).await?;
        if end.escalate {
            break;
        }
    }
    Ok(end)
}
