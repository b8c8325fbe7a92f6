//! The progress of a run. It says where the run continues after an interruption or a crash.

use crate::output::{AgentOutput, Spent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The progress of the latest run of a conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Progress {
    /// The index of the first message of the run.
    pub(super) begin: usize,
    /// How often the run was begun or continued since it last stopped, or 0 if it has stopped. A run that is continued
    /// changes this number, so its first save is refused if another process has continued the run.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) working: u32,
    /// The index of the original question, if the run repeats an invalid answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<usize>,
    /// The number of invalid answers in this run and the runs that it repeats.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) invalid_answers: u32,
    /// The index of the first message that guardrails for answers have not checked. The messages from this index on
    /// are text before pauses of the provider, and the answer that is being checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unchecked: Option<usize>,
    /// The number of messages in the conversation when the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<usize>,
    /// The output of the run. `None` if the run has not ended with an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<AgentOutput>,
    pub(crate) spent: Spent,
    /// The steps of the agents that were working, each nested in the one before. The outermost agent comes
    /// first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) frames: Vec<Frame>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Progress {
    /// Returns the index of the first message of the run. If the run repeats an invalid answer, returns the
    /// index of the original question.
    pub(super) fn first(&self) -> usize {
        self.question.unwrap_or(self.begin)
    }

    /// Removes the first steps that are the same in `saved`, and returns their number. A team may have many steps, and a
    /// step may contain a long output.
    pub(super) fn remove_steps_of(&mut self, saved: &Self) -> usize {
        let same = self.frames.iter().zip(&saved.frames).take_while(|(now, saved)| now == saved).count();
        self.frames.drain(..same);
        same
    }

    /// Adds the first `count` steps of `before` at the beginning.
    pub(super) fn add_steps_of(&mut self, before: Self, count: usize) {
        self.frames.splice(..0, before.frames.into_iter().take(count));
    }
}

/// An agent of a team, and the step that it has reached.
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
    /// A tool of the agent has asked the loop around the agent to end.
    Escalated,
    /// The final answer is in the conversation, and guardrails are checking it.
    Unchecked {
        /// Whether a tool of the agent has asked the loop around the agent to end.
        #[serde(default)]
        escalate: bool,
        /// Whether the answer was given after an invalid answer.
        #[serde(default)]
        is_repair: bool,
    },
    /// The final answer was invalid, and the agent asks the model for another one.
    Repair {
        /// Whether a tool of the agent has asked the loop around the agent to end.
        #[serde(default)]
        escalate: bool,
    },
    /// A team that runs its agents one after another has finished the first `index` agents.
    Sequence {
        iteration: u32,
        index: usize,
        /// The names of all agents, in the order of their work. The program may be continued with other agents.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        agents: Vec<String>,
        /// The output of the agent that ended last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<AgentOutput>,
    },
    /// A team runs its agents in parallel. The outputs of successful agents are in their copies of the
    /// conversation.
    Parallel {
        /// The names of the agents, by the index of their copies. The program may be continued with other agents.
        #[serde(default)]
        agents: Vec<String>,
        /// The errors of failed agents, by the index of their copies.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        failed: BTreeMap<usize, String>,
    },
}
