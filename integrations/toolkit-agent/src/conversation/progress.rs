//! The progress of a run in its conversation: where the run continues after an interruption or a crash.

use crate::output::{AgentOutput, Spent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The latest run of a conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Progress {
    /// The index of the first message of the run.
    pub(super) begin: usize,
    /// The index of the first message of the first attempt, if the run is another attempt to answer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<usize>,
    /// The number of invalid answers in the requested form, over all attempts.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) invalid_answers: u32,
    /// The number of messages in the conversation when the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<usize>,
    /// The output, if the run has ended with an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<AgentOutput>,
    pub(crate) spent: Spent,
    /// The steps of the nested agents of a team, the outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) frames: Vec<Frame>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Progress {
    /// Returns the index of the first message of the run. If the run is another attempt to answer, this is the first
    /// message of the first attempt.
    pub(super) fn first(&self) -> usize {
        self.question.unwrap_or(self.begin)
    }

    /// Returns whether the innermost agent has given an answer that is being checked.
    pub(super) fn is_unchecked(&self) -> bool {
        matches!(self.frames.last(), Some(Frame { step: Step::Unchecked { .. }, .. }))
    }
}

/// The step of one agent of a team.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Frame {
    pub(super) agent: String,
    pub(super) step: Step,
}

/// The step that an agent has reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// The conversation was transferred to the agent with this name.
    Transfer(String),
    /// A tool of the agent asked an enclosing loop to end.
    Escalated,
    /// The final answer is in the conversation and is being checked.
    Unchecked {
        /// Whether a tool of the agent asked an enclosing loop to end.
        #[serde(default)]
        escalate: bool,
        /// Whether the agent has repaired an invalid answer.
        #[serde(default)]
        is_repair: bool,
    },
    /// The final answer was invalid, and the agent asks for it again.
    Repair {
        /// Whether a tool of the agent asked an enclosing loop to end.
        #[serde(default)]
        escalate: bool,
    },
    /// A sequence of agents has reached the agent at `index`.
    Sequence {
        iteration: u32,
        index: usize,
        /// The output of the agent that ended last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<AgentOutput>,
    },
    /// Agents run in parallel. The map contains the errors of failed agents, by the index of the agent. The
    /// outputs of finished agents are in their copies of the conversation.
    Parallel(BTreeMap<usize, String>),
}
