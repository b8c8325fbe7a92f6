//! What came of a run.

use crate::message::Message;
use crate::model::{FinishReason, Usage};
use serde::Serialize;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct RunOutput {
    /// The answer.
    pub text: String,
    /// The agent that gave it.
    pub agent: String,
    /// Why it stopped.
    pub finish: FinishReason,
    /// Whether it wants a loop of agents to end.
    pub escalate: bool,
    /// What all answers of models have cost.
    pub usage: Usage,
    /// The same at the [price](crate::AgentBuilder::price) of each agent; 0 for those that have none.
    pub cost: f64,
    /// How often models were asked.
    pub model_calls: u32,
    /// How many calls of tools were run.
    pub tool_calls: u32,
    /// What was said in this run.
    pub messages: Vec<Message>,
}
