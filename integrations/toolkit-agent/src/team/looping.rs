//! Agents that work until it is enough.

use super::check_names;
use super::sequential::one_after_another;
use crate::agent::{Agent, AgentEnd, RunAgent};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::Limits;
use crate::run::Run;

/// Agents that work one after another, again and again, until one [escalates](toolkit::context::ActionsHandle::escalate), as
/// a tool of it does when it is content, or the iterations are used up. The answer is the last one that was given. Only
/// this loop ends: what goes on around it goes on.
///
/// ```
/// use toolkit_agent::{Agent, LoopAgent, ScriptedModel};
/// use toolkit::{ClosureTool, ToolContext, ToolRegistry};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let good = ClosureTool::with_context("good_enough", "Ends the work.", |_: Nothing, context: ToolContext| {
///     context.actions().escalate();
/// })?;
/// let model = ScriptedModel::new().text("First draft.").call("good_enough", "{}").text("Second draft.");
/// let writer = Agent::builder(model).name("writer").tools(ToolRegistry::from_tools([good])?).build()?;
/// let output = Agent::from(LoopAgent::new("until_good", [writer])).run("Write.").await?;
/// assert_eq!((output.text.as_str(), output.model_calls), ("Second draft.", 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct LoopAgent {
    name: String,
    description: String,
    agents: Vec<Agent>,
    max_iterations: u32,
    limits: Limits,
}

impl LoopAgent {
    /// These agents, again and again, at most 10 times.
    #[must_use]
    pub fn new(name: impl Into<String>, agents: impl IntoIterator<Item = Agent>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            agents: agents.into_iter().collect(),
            max_iterations: 10,
            limits: Limits::default(),
        }
    }

    /// Sets how often all agents work at most.
    #[must_use]
    pub fn with_max_iterations(mut self, iterations: u32) -> Self {
        self.max_iterations = iterations;
        self
    }

    /// Sets what the team is for, as other agents read it.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets how far a run may go, all agents and iterations together.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    async fn iterate(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentEnd, AgentError> {
        let mut end = AgentEnd::new(self.name.as_str(), "");
        for _ in 0..self.max_iterations {
            end = one_after_another(&self.name, &self.agents, conversation, run).await?;
            if end.escalate {
                break;
            }
        }
        end.escalate = false;
        Ok(end)
    }
}

impl RunAgent for LoopAgent {
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
        let end = self.iterate(conversation, run).await;
        run.tell(|| RunEvent::AgentEnded { agent: self.name.clone() });
        end
    }
}
