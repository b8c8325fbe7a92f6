//! The outputs of agents and runs.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
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
    /// The agent that gave the answer.
    pub agent: String,
    /// Why the model stopped.
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

/// The output of a run, with what came before an interruption.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunOutput {
    /// The answer.
    pub text: String,
    /// The agent that gave the answer.
    pub agent: String,
    /// Why the model stopped.
    pub finish: FinishReason,
    /// Whether a tool or an agent has [asked](toolkit_core::context::ActionsHandle::escalate) the loop
    /// around it to end.
    pub escalate: bool,
    /// The tokens of all model calls.
    pub usage: Usage,
    /// The cost of all model calls, at each agent's [price](crate::AgentBuilder::price). Without a price,
    /// tokens cost 0.
    pub cost: f64,
    /// The number of model calls.
    pub model_calls: u32,
    /// The number of tool calls.
    pub tool_calls: u32,
    /// What the latest attempt has spent of it: the work since the run began or was last resumed.
    pub attempt: Spent,
    /// The messages that the run has added, in all attempts.
    pub messages: Messages,
}

/// What a conversation, a run or an attempt has spent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Spent {
    /// The tokens of all model calls.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// The cost of all model calls.
    #[serde(skip_serializing_if = "is_free")]
    pub cost: f64,
    /// The number of model calls.
    #[serde(skip_serializing_if = "is_zero")]
    pub model_calls: u32,
    /// The number of tool calls.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_calls: u32,
    /// The whole seconds in which processes worked.
    #[serde(skip_serializing_if = "is_zero")]
    pub seconds: u64,
    /// The number of attempts at runs that ended with their process. Each may have made one more model call, which is
    /// not counted here.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost_attempts: u32,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        let Self { usage, cost, model_calls, tool_calls, seconds, lost_attempts } = other;
        self.usage += usage;
        self.cost += cost;
        self.model_calls = self.model_calls.saturating_add(model_calls);
        self.tool_calls = self.tool_calls.saturating_add(tool_calls);
        self.seconds = self.seconds.saturating_add(seconds);
        self.lost_attempts = self.lost_attempts.saturating_add(lost_attempts);
    }
}

fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

fn is_free(cost: &f64) -> bool {
    *cost == 0.0
}

impl Spent {
    pub(crate) fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the output of a run with these amounts, and defaults otherwise.
    pub(crate) fn output(self) -> RunOutput {
        let Self { usage, cost, model_calls, tool_calls, .. } = self;
        RunOutput { usage, cost, model_calls, tool_calls, ..RunOutput::default() }
    }
}

impl AgentOutput {
    /// Converts an agent's output into that of its run, which has `spent` and `messages`, the latest
    /// `attempt` of it included.
    pub(crate) fn in_run(self, spent: Spent, attempt: Spent, messages: Messages) -> RunOutput {
        let Self { text, agent, finish, escalate } = self;
        RunOutput { text, agent, finish, escalate, attempt, messages, ..spent.output() }
    }
}
