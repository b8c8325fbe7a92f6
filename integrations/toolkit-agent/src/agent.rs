//! Agents, and the run shared by the agents of a team.

mod called;
mod custom;
mod owner;
mod run_end;
mod saving;
mod shared;

pub(crate) use crate::call_ids::CallIds;
pub(crate) use called::{Called, CalledAgents, Caller, OpenCall, Reported};
pub(crate) use owner::{RunOwner, Sink, SteeredInput};
pub use shared::Run;

use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::Limits;
use crate::output::AgentOutput;
use crate::span::AgentSpan;
use std::sync::Arc;

/// The behaviour of an agent.
///
/// [`Agent::builder`] creates agents with a model. Other kinds implement this trait; `Agent::from` converts
/// them.
///
/// ```
/// use toolkit_ai::agent::{Agent, AgentError, AgentOutput, Conversation, Run, RunAgent};
/// use toolkit_ai::llm::Message;
///
/// struct Clock;
///
/// impl RunAgent for Clock {
///     fn name(&self) -> &str {
///         "clock"
///     }
///
///     async fn run(&self, conversation: &mut Conversation, _: &Run) -> Result<AgentOutput, AgentError> {
///         conversation.push(Message::assistant("It is noon."));
///         Ok(AgentOutput::new("clock", "It is noon."))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let output = Agent::from(Clock).run("What time is it?").await?;
/// assert_eq!(output.text, "It is noon.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub trait RunAgent: Send + Sync + 'static {
    /// Returns the name, which is unique in a team.
    fn name(&self) -> &str;

    /// Returns the description for the models of other agents.
    fn description(&self) -> &str {
        ""
    }

    /// Returns the sub-agents.
    fn sub_agents(&self) -> &[Agent] {
        &[]
    }

    /// Returns whether only the same sub-agents, in the same order, can resume a run. Default: `false`.
    fn is_team(&self) -> bool {
        false
    }

    /// Returns the limits of a run that the program starts with this agent, unless
    /// [`RunRequest::limits`](crate::RunRequest::limits) overrides them. In another agent's run, they limit
    /// only this agent's work.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Adds the new messages and returns the output.
    ///
    /// # Errors
    /// [`AgentError`] if the agent has no answer.
    fn run(
        &self,
        conversation: &mut Conversation,
        run: &Run,
    ) -> impl Future<Output = Result<AgentOutput, AgentError>> + Send;
}

/// Implements the getters of [`RunAgent`] with the fields of `$part`.
macro_rules! agent_facts {
    ($part:ident) => {
        fn name(&self) -> &str {
            &self.$part.name
        }

        fn description(&self) -> &str {
            &self.$part.description
        }

        fn sub_agents(&self) -> &[Agent] {
            &self.$part.sub_agents
        }

        fn limits(&self) -> Limits {
            self.$part.limits.clone()
        }
    };
}
pub(crate) use agent_facts;

object_safe! {
    /// The object-safe form of [`RunAgent`].
    trait DynAgent: RunAgent {
        fn name(&self) -> &str;
        fn description(&self) -> &str;
        fn sub_agents(&self) -> &[Agent];
        fn is_team(&self) -> bool;
        fn limits(&self) -> Limits;
        async fn run(conversation: &'a mut Conversation, run: &'a Run) -> Result<AgentOutput, AgentError>;
    }
}

/// A model with instructions and tools, or a team of agents.
///
/// Clones share the agent, which may run in many conversations at once.
///
/// ```
/// use toolkit_ai::agent::Agent;
/// use toolkit_ai::llm::ScriptedModel;
/// use toolkit_ai::{ClosureTool, ToolRegistry};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let add = ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b)?;
/// let model = ScriptedModel::new().call("add", r#"{"a": 17, "b": 25}"#).text("It is 42.");
/// let agent = Agent::builder(model)
///     .instructions("You are good at sums.")
///     .tools(ToolRegistry::from_tools([add])?)
///     .build()?;
/// let output = agent.run("What is 17 + 25?").await?;
/// assert_eq!(output.text, "It is 42.");
/// assert_eq!((output.model_calls, output.tool_calls), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[doc(alias("Runner", "AgentExecutor", "ReActAgent", "prompt", "invoke"))]
#[derive(Clone)]
pub struct Agent(Arc<dyn DynAgent>);

impl<A: RunAgent> From<A> for Agent {
    fn from(agent: A) -> Self {
        Self(Arc::new(agent))
    }
}

impl Agent {
    /// Returns the name of the agent.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the description for the models of other agents.
    #[must_use]
    pub fn description(&self) -> &str {
        self.0.description()
    }

    pub(crate) fn limits(&self) -> Limits {
        self.0.limits()
    }

    /// Returns the limits for work in another agent's run. `None` for the default limits.
    pub(crate) fn own_limits(&self) -> Option<Limits> {
        let limits = self.limits();
        if limits == Limits::default() { None } else { Some(limits) }
    }

    /// Returns the sub-agents.
    #[must_use]
    pub fn sub_agents(&self) -> &[Self] {
        self.0.sub_agents()
    }

    /// Finds an agent by name, including all below this one.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Self> {
        if self.name() == name {
            return Some(self);
        }
        self.sub_agents().iter().find_map(|agent| agent.find(name))
    }

    /// Answers the conversation as a part of `run`, with its limits and listener, and the agent's own
    /// [limits](Limits).
    ///
    /// # Errors
    /// [`AgentError`] if the agent has no answer.
    pub async fn join_run(
        &self,
        conversation: &mut Conversation,
        run: &Run,
    ) -> Result<AgentOutput, AgentError> {
        let depth = conversation.depth();
        let limited = run.limited_to(self);
        let limited_run = limited.as_ref().unwrap_or(run);
        let span = AgentSpan::new(self.name(), self.description(), conversation.id());
        let measured = limited_run.with_span(&span);
        let own_run = measured.as_ref().unwrap_or(limited_run);
        let mut members = Vec::new();
        if self.0.is_team() {
            members.extend(self.sub_agents().iter().map(|agent| agent.name().to_owned()));
        }
        conversation.enter(self.name(), members).map_err(AgentError::TeamChanged)?;
        let agent = || self.name().to_owned();
        own_run.emit(|| RunEvent::AgentStarted { agent: agent(), within: own_run.within() });
        // After a crash, the agent to which this one has handed over may have answered.
        let is_over = conversation.frame().is_some_and(|frame| frame.output.is_some());
        let output = span.around(self.0.run(conversation, own_run)).await;
        // An agent that hands over has ended before.
        if is_over || conversation.frame().is_none_or(|frame| frame.transfer.is_none()) {
            own_run.emit(|| RunEvent::AgentEnded { agent: agent(), within: own_run.within() });
        }
        span.end(self.name(), &output, own_run.usage());
        match &output {
            Ok(output) => conversation.agent_ended(depth, output),
            Err(_) => conversation.agent_failed(depth),
        }
        output
    }

    /// Returns whether both are clones of the same agent.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

debug!(Agent, self, "name": self.name(), "sub_agents": self.sub_agents());
