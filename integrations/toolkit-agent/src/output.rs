//! The outputs of agents and runs.

use crate::error::{AgentError, RunError};
use crate::pending::PendingCall;
use serde::{Deserialize, Serialize};
use toolkit_llm::Messages;
use toolkit_llm::{FinishReason, Usage};

/// The output of one agent in a run.
///
/// ```
/// use toolkit_ai::agent::AgentOutput;
///
/// // What an agent of your own returns.
/// let output = AgentOutput::new("clock", "It is noon.");
/// assert_eq!((output.agent.as_str(), output.escalate), ("clock", false));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AgentOutput {
    /// The answer.
    pub text: String,
    /// The name of the agent that gave the answer.
    pub agent: String,
    /// The reason why the model stopped.
    pub finish: FinishReason,
    /// Whether the agent asks the [`LoopAgent`](crate::team::LoopAgent) around it to end.
    pub escalate: bool,
}

impl AgentOutput {
    /// Creates the output of an agent that has answered normally.
    #[must_use]
    pub fn new(agent: impl Into<String>, text: impl Into<String>) -> Self {
        Self { agent: agent.into(), text: text.into(), ..Self::default() }
    }
}

/// The output of a run. After a [resumed](crate::Agent::resume) run, it also covers the part of the run
/// before the interruption.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunOutput {
    /// The answer.
    pub text: String,
    /// The name of the agent that gave the answer.
    pub agent: String,
    /// The reason why the model stopped.
    pub finish: FinishReason,
    /// Whether a tool or an agent has [asked](toolkit_core::context::ActionsHandle::escalate) the loop around
    /// the agent to end.
    pub escalate: bool,
    /// The tokens of all model calls.
    pub usage: Usage,
    /// The cost of the tokens of all model calls. Each agent has its own [price](crate::AgentBuilder::price).
    /// The tokens of an agent without a price cost 0.
    pub cost: f64,
    /// The number of model calls.
    pub model_calls: u32,
    /// The number of tool calls.
    pub tool_calls: u32,
    /// The messages that the run has added to the conversation, including those added before an interruption.
    pub messages: Messages,
}

/// The end of a run of which the program decides the pending calls: an answer, or calls that wait.
///
/// ```
/// use toolkit_ai::agent::{Agent, Conversation, Decisions, Outcome};
/// use toolkit_ai::llm::ScriptedModel;
/// use toolkit_ai::prelude::*;
///
/// /// Ask the user.
/// #[tool]
/// fn ask(question: String) -> Result<String, ToolError> {
///     Err(ToolError::question(question))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let model = ScriptedModel::new().call("ask", r#"{"question": "Which colour?"}"#).text("Blue it is.");
/// let agent = Agent::builder(model).tools(tools![ask]).build()?;
/// let mut conversation = Conversation::new("1");
/// let mut outcome = agent.run("Paint the door.").on(&mut conversation).outcome().await?;
/// while let Outcome::Waiting(waiting) = outcome {
///     let decisions = Decisions::new().answer(&waiting.pending[0].id, "blue");
///     outcome = agent.resume(&mut conversation).decide(decisions).outcome().await?;
/// }
/// assert_eq!(outcome.answered()?.text, "Blue it is.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<A = RunOutput> {
    /// The agent has answered.
    Answered(A),
    /// Calls wait for decisions or results from the program.
    Waiting(Waiting),
}

/// The calls of a run that wait for decisions or results from the program. The conversation contains them, even after it
/// is saved and loaded again. [`Agent::resume`](crate::Agent::resume) continues the run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Waiting {
    /// The calls that wait.
    pub pending: Vec<PendingCall>,
    /// The output so far, without the unfinished turn.
    pub output: Box<RunOutput>,
}

impl<A> Outcome<A> {
    /// Returns the answer.
    ///
    /// # Errors
    /// [`AgentError::Interrupted`] if calls wait.
    pub fn answered(self) -> Result<A, RunError> {
        match self {
            Self::Answered(answer) => Ok(answer),
            Self::Waiting(Waiting { pending, output }) => {
                Err(RunError { error: AgentError::Interrupted { pending }, output })
            }
        }
    }
}

/// The tokens, the cost and the numbers of calls that a run has used so far. They include the amounts from
/// before an interruption.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Spent {
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub(crate) usage: Usage,
    #[serde(skip_serializing_if = "is_free")]
    pub(crate) cost: f64,
    pub(crate) model_calls: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) tool_calls: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_free(cost: &f64) -> bool {
    *cost == 0.0
}

impl Spent {
    pub(crate) fn add(&mut self, other: Self) {
        self.usage += other.usage;
        self.cost += other.cost;
        self.model_calls = self.model_calls.saturating_add(other.model_calls);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
    }

    /// Returns the output of a run with these amounts. All other fields have their default values.
    pub(crate) fn output(self) -> RunOutput {
        let Self { usage, cost, model_calls, tool_calls } = self;
        RunOutput { usage, cost, model_calls, tool_calls, ..RunOutput::default() }
    }
}

impl AgentOutput {
    /// Converts the output of an agent into the output of its run. `spent` and `messages` belong to the run.
    pub(crate) fn in_run(self, spent: Spent, messages: Messages) -> RunOutput {
        let Self { text, agent, finish, escalate } = self;
        RunOutput { text, agent, finish, escalate, messages, ..spent.output() }
    }
}
