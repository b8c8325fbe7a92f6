//! Agents: what takes part in a conversation.

mod builder;

pub use builder::AgentBuilder;

use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::limits::Limits;
use crate::message::UserMessage;
use crate::model::{ChatModel, FinishReason};
use crate::run::{Run, RunOptions, RunOutput, RunStream};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::mpsc::unbounded_channel;

/// What came of an agent's part of a run.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct AgentEnd {
    /// The answer.
    pub text: String,
    /// The agent that gave it.
    pub agent: String,
    /// Why it stopped.
    pub finish: FinishReason,
    /// Whether it wants a loop of agents to end.
    pub escalate: bool,
}

impl AgentEnd {
    /// This agent has given this answer.
    #[must_use]
    pub fn new(agent: impl Into<String>, text: impl Into<String>) -> Self {
        Self { agent: agent.into(), text: text.into(), ..Self::default() }
    }
}

/// Something that takes part in a conversation as an agent does. [`Agent::builder`] makes those that ask a model;
/// implement it for others, and make an [`Agent`] of it with `into()`.
///
/// ```
/// use toolkit_agent::{Agent, AgentEnd, AgentError, Conversation, Message, Run, RunAgent};
///
/// struct Clock;
///
/// impl RunAgent for Clock {
///     fn name(&self) -> &str {
///         "clock"
///     }
///
///     async fn run(&self, conversation: &mut Conversation, _: &Run) -> Result<AgentEnd, AgentError> {
///         conversation.push(Message::assistant("It is noon."));
///         Ok(AgentEnd::new("clock", "It is noon."))
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
    /// The name, as other agents know it.
    fn name(&self) -> &str;

    /// What it is for, as other agents read it.
    fn description(&self) -> &str {
        ""
    }

    /// The agents that may take over from it.
    fn sub_agents(&self) -> &[Agent] {
        &[]
    }

    /// How far a run of it may go.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Does its part: adds messages to the conversation, and says what came of it.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    fn run(
        &self,
        conversation: &mut Conversation,
        run: &Run,
    ) -> impl Future<Output = Result<AgentEnd, AgentError>> + Send;
}

type Ending<'a> = Pin<Box<dyn Future<Output = Result<AgentEnd, AgentError>> + Send + 'a>>;

/// [`RunAgent`] for any agent; it is implemented for all of them.
trait AnyAgent: Send + Sync {
    fn name(&self) -> &str;
    fn description(&self) -> &str;
    fn sub_agents(&self) -> &[Agent];
    fn limits(&self) -> Limits;
    fn run<'a>(&'a self, conversation: &'a mut Conversation, run: &'a Run) -> Ending<'a>;
}

impl<A: RunAgent> AnyAgent for A {
    fn name(&self) -> &str {
        RunAgent::name(self)
    }

    fn description(&self) -> &str {
        RunAgent::description(self)
    }

    fn sub_agents(&self) -> &[Agent] {
        RunAgent::sub_agents(self)
    }

    fn limits(&self) -> Limits {
        RunAgent::limits(self)
    }

    fn run<'a>(&'a self, conversation: &'a mut Conversation, run: &'a Run) -> Ending<'a> {
        Box::pin(RunAgent::run(self, conversation, run))
    }
}

/// What takes part in a conversation: a model with its instructions and tools, or a team of such. Clones are the same
/// agent, and an agent may run in many conversations at the same time.
///
/// ```
/// use toolkit_agent::{Agent, ScriptedModel};
/// use toolkit::{ClosureTool, ToolRegistry};
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
#[derive(Clone)]
pub struct Agent(Arc<dyn AnyAgent>);

impl<A: RunAgent> From<A> for Agent {
    fn from(agent: A) -> Self {
        Self(Arc::new(agent))
    }
}

impl Agent {
    /// Begins an agent that asks this model.
    #[must_use]
    pub fn builder(model: impl ChatModel) -> AgentBuilder {
        AgentBuilder::new(model)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// What the agent is for.
    #[must_use]
    pub fn description(&self) -> &str {
        self.0.description()
    }

    /// The agents that may take over from it.
    #[must_use]
    pub fn sub_agents(&self) -> &[Self] {
        self.0.sub_agents()
    }

    /// The agent of this name: this one, or one below it.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Self> {
        if self.name() == name {
            return Some(self);
        }
        self.sub_agents().iter().find_map(|agent| agent.find(name))
    }

    pub(crate) fn limits(&self) -> Limits {
        self.0.limits()
    }

    /// Whether both are clones of one agent.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Answers in a conversation of its own.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn run(&self, input: impl Into<UserMessage>) -> Result<RunOutput, AgentError> {
        self.run_in(&mut Conversation::default(), input).await
    }

    /// Answers in a conversation, which then holds what was said. Dropping the future stops the run; the conversation
    /// can go on all the same.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn run_in(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
    ) -> Result<RunOutput, AgentError> {
        self.run_with(conversation, input, RunOptions::default()).await
    }

    /// Like [`run_in`](Self::run_in), with limits of its own or something that stops the run.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn run_with(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
        options: RunOptions,
    ) -> Result<RunOutput, AgentError> {
        self.carry_out(conversation, Some(input.into()), Run::new(self.clone(), options, None)).await
    }

    /// Goes on with a conversation that has no answer yet: after a crash, an error, or a cancelled run.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn resume(
        &self,
        conversation: &mut Conversation,
        options: RunOptions,
    ) -> Result<RunOutput, AgentError> {
        self.carry_out(conversation, None, Run::new(self.clone(), options, None)).await
    }

    /// Answers in a conversation of its own, and tells what happens while it does.
    #[must_use]
    pub fn run_stream(&self, input: impl Into<UserMessage>) -> RunStream<'static> {
        let (agent, input) = (self.clone(), input.into());
        let (sender, events) = unbounded_channel();
        let run = Run::new(self.clone(), RunOptions::default(), Some(sender));
        let answer = async move { agent.carry_out(&mut Conversation::default(), Some(input), run).await };
        RunStream::new(Box::pin(answer), events)
    }

    /// Answers in a conversation, and tells what happens while it does.
    #[must_use]
    pub fn run_stream_in<'a>(
        &self,
        conversation: &'a mut Conversation,
        input: impl Into<UserMessage>,
        options: RunOptions,
    ) -> RunStream<'a> {
        self.watched(conversation, Some(input.into()), options)
    }

    /// Goes on with a conversation that has no answer yet, and tells what happens while it does.
    #[must_use]
    pub fn resume_stream<'a>(
        &self,
        conversation: &'a mut Conversation,
        options: RunOptions,
    ) -> RunStream<'a> {
        self.watched(conversation, None, options)
    }

    fn watched<'a>(
        &self,
        conversation: &'a mut Conversation,
        input: Option<UserMessage>,
        options: RunOptions,
    ) -> RunStream<'a> {
        let (sender, events) = unbounded_channel();
        let run = Run::new(self.clone(), options, Some(sender));
        let agent = self.clone();
        RunStream::new(Box::pin(async move { agent.carry_out(conversation, input, run).await }), events)
    }

    /// Does its part of a run, for agents that are made of others.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn take_part(
        &self,
        conversation: &mut Conversation,
        run: &Run,
    ) -> Result<AgentEnd, AgentError> {
        self.0.run(conversation, run).await
    }

    pub(crate) async fn carry_out(
        &self,
        conversation: &mut Conversation,
        input: Option<UserMessage>,
        run: Run,
    ) -> Result<RunOutput, AgentError> {
        conversation.settle();
        let begin = conversation.messages().len();
        if let Some(input) = input {
            conversation.push(input);
        }
        let end = match run.save(conversation).await {
            Ok(()) => self.take_part(conversation, &run).await,
            Err(error) => Err(error),
        };
        conversation.settle();
        let saved = run.save(conversation).await;
        let AgentEnd { text, agent, finish, escalate } = end?;
        saved?;
        let budget = run.budget();
        Ok(RunOutput {
            text,
            agent,
            finish,
            escalate,
            usage: budget.usage(),
            cost: budget.cost(),
            model_calls: budget.model_calls(),
            tool_calls: budget.tool_calls(),
            messages: conversation.messages().get(begin..).unwrap_or_default().to_vec(),
        })
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("name", &self.name()).field("sub_agents", &self.sub_agents()).finish()
    }
}
