//! Sequences and loops of agents, and the code shared by all teams.

use super::check_names;
use crate::agent::{Agent, Run, RunAgent, agent_facts};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::limits::Limits;
use crate::output::AgentOutput;

#[derive(Debug, Clone)]
pub(super) struct Workflow {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) sub_agents: Vec<Agent>,
    pub(super) limits: Limits,
}

impl Workflow {
    pub(super) fn new(name: impl Into<String>, agents: impl IntoIterator<Item = Agent>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            sub_agents: agents.into_iter().collect(),
            limits: Limits::default(),
        }
    }

    /// Checks the names of the agents, and awaits `work`.
    pub(super) async fn run(
        &self,
        work: impl Future<Output = Result<AgentOutput, AgentError>>,
    ) -> Result<AgentOutput, AgentError> {
        check_names(&self.name, &self.sub_agents)?;
        work.await
    }

    /// Runs the agents in order, up to `max_iterations` times, until one escalates. Continues with an
    /// interrupted agent.
    async fn sequence(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        max_iterations: u32,
    ) -> Result<AgentOutput, AgentError> {
        let count = self.sub_agents.len();
        let last = usize::try_from(max_iterations).unwrap_or(usize::MAX).saturating_mul(count);
        // After an invalid answer, only the last agent runs again.
        let skipped = if run.0.answers_only { last.saturating_sub(1) } else { 0 };
        loop {
            let frame = conversation.frame();
            let done = skipped + frame.map_or(0, |frame| frame.ended);
            let output = frame.and_then(|frame| frame.output.as_ref());
            if done >= last || output.is_some_and(|output| output.escalate) {
                return Ok(output.cloned().unwrap_or_else(|| AgentOutput::new(self.name.as_str(), "")));
            }
            run.check_cancelled()?;
            let Some(agent) = self.sub_agents.get(done % count) else { continue };
            // Only the last agent gives the final answer.
            let part = if (done + 1).is_multiple_of(count) { run.clone() } else { run.with_answer(None) };
            agent.join_run(conversation, &part).await?;
            run.save(conversation).await?;
        }
    }
}

/// Implements the constructor, the settings and `RunAgent` for a type with a field `workflow` and a method
/// `work`.
macro_rules! workflow_agent {
    ($agent:ident { $(#[$new:meta])* $($field:ident: $value:expr)? }) => {
        impl $agent {
            $(#[$new])*
            #[must_use]
            pub fn new(name: impl Into<String>, agents: impl IntoIterator<Item = Agent>) -> Self {
                Self { workflow: Workflow::new(name, agents), $($field: $value)? }
            }
        }

        setters! { $agent.workflow:
            /// Sets the description for the models of other agents.
            with_description(description: impl Into<String>) = description.into();
            /// Sets the [`Limits`] of all agents of this team together, even in a run started by another
            /// agent.
            with_limits(limits: Limits) = limits;
        }

        impl RunAgent for $agent {
            agent_facts!(workflow);

            fn is_team(&self) -> bool {
                true
            }

            async fn run(
                &self,
                conversation: &mut Conversation,
                run: &Run,
            ) -> Result<AgentOutput, AgentError> {
                self.workflow.run(self.work(conversation, run)).await
            }
        }
    };
}

pub(super) use workflow_agent;

/// A sequence of agents in one conversation.
///
/// Each agent reads the messages of those before it, and the last one, or one that
/// [escalates](toolkit_core::context::ActionsHandle::escalate), gives the answer. A
/// [resumed](Agent::resume) run continues with the agent that had not ended. Unless it has the same agents
/// in the same order, it ends with [`AgentError::TeamChanged`].
///
/// ```
/// use toolkit_ai::agent::{Agent, team::SequentialAgent};
/// use toolkit_ai::llm::ScriptedModel;
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
#[doc(alias("chain", "pipeline"))]
#[derive(Debug, Clone)]
pub struct SequentialAgent {
    workflow: Workflow,
}

workflow_agent!(SequentialAgent {
    /// Creates a sequence of these agents.
});

impl SequentialAgent {
    async fn work(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        self.workflow.sequence(conversation, run, 1).await
    }
}

/// A sequence of agents, repeated until one [escalates](toolkit_core::context::ActionsHandle::escalate), or
/// up to a maximum number of iterations.
///
/// The last answer is that of the loop. An escalation ends only the innermost loop.
///
/// ```
/// use toolkit_ai::agent::{Agent, team::LoopAgent};
/// use toolkit_ai::llm::ScriptedModel;
/// use toolkit_ai::{ClosureTool, ToolContext, ToolRegistry};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let good = ClosureTool::new_with_context("good_enough", "Ends the work.", |_: Nothing, context: ToolContext| {
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
    workflow: Workflow,
    max_iterations: u32,
}

workflow_agent!(LoopAgent {
    /// Creates a loop with at most 10 iterations.
    max_iterations: 10
});

setters! { LoopAgent:
    /// Sets the maximum number of iterations.
    with_max_iterations(max_iterations: u32) = max_iterations;
}

impl LoopAgent {
    async fn work(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        let output = self.workflow.sequence(conversation, run, self.max_iterations).await?;
        Ok(AgentOutput { escalate: false, ..output })
    }
}
