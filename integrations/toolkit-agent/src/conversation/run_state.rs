//! The state of the latest run of a conversation.

use crate::output::{AgentOutput, Spent};
use crate::status::EndReason;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RunState {
    #[serde(skip_serializing_if = "str::is_empty", with = "crate::helpers::shared_text")]
    pub(super) id: Arc<str>,
    /// The index of the first message.
    pub(super) begin: usize,
    /// The index of the original question, if the run repeats an invalid answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<usize>,
    /// The number of invalid answers in this run and those that it repeats.
    pub(super) invalid_answers: u32,
    /// Whether a process works on the run, or has died.
    pub(super) is_working: bool,
    /// The number of messages when the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<usize>,
    /// The answer, if the run has ended with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<AgentOutput>,
    /// How many times a process has begun to work on the run.
    pub(super) attempts: u32,
    /// What the attempts before the latest one have spent.
    #[serde(skip_serializing_if = "Spent::is_zero")]
    pub(super) earlier_spent: Spent,
    pub(super) attempt_spent: Spent,
    /// Why the latest attempt has stopped, and when, in seconds since 1970.
    pub(super) reason: EndReason,
    pub(super) stopped_at: u64,
    pub(super) turns: u32,
    /// The turns with unchecked text before a pause, and maybe earlier ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) paused: Vec<u32>,
    /// The number of parallel agents whose messages have joined the conversation.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) joined: usize,
    /// The working agents, each nested in the one before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) frames: Vec<Frame>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl RunState {
    /// Returns what all attempts have spent.
    pub(super) fn spent(&self) -> Spent {
        let mut spent = self.earlier_spent;
        spent += self.attempt_spent;
        spent
    }

    /// Adds what the latest attempt has spent to the attempts before it. If it works, its process has died.
    pub(super) fn end_attempt(&mut self) {
        self.attempt_spent.lost_attempts = self.is_working.into();
        self.earlier_spent += std::mem::take(&mut self.attempt_spent);
    }

    /// Returns the index of the first message, or of the original question.
    pub(super) fn first(&self) -> usize {
        self.question.unwrap_or(self.begin)
    }

    /// Moves the indexes after the first `removed` messages were removed.
    pub(super) fn remove_first(&mut self, removed: usize) {
        self.begin = self.begin.saturating_sub(removed);
        self.question = self.question.map(|question| question.saturating_sub(removed));
        self.end = self.end.map(|end| end.saturating_sub(removed));
    }
}

/// A working agent, and how far it has come.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Frame {
    pub(crate) agent: String,
    /// The agents of a team, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) members: Vec<String>,
    /// The number of ended members, in all iterations.
    pub(crate) ended: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<AgentOutput>,
    /// The answer of the agent's last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<AgentOutput>,
    /// The errors of failed members of a parallel team, by index.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) failed: BTreeMap<usize, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) transfer: Option<String>,
    /// Whether a tool has asked the loop around to end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) escalate: bool,
    /// Whether the agent only asks for another answer after an invalid one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_repair: bool,
}

impl Frame {
    /// Checks that an agent can continue this interrupted agent's work.
    pub(super) fn check_team(&self, agent: &str, members: &[String]) -> Result<(), String> {
        let was = &self.agent;
        let change = if was != agent {
            format!("the run was interrupted in agent `{was}`, and agent `{agent}` is in its place")
        } else if self.members != members {
            let before = listed(&self.members);
            format!(
                "the run was interrupted in the team `{was}` of {before}, which now has {}",
                listed(members)
            )
        } else {
            return Ok(());
        };
        Err(format!("{change}; resume it with the earlier program, or abandon it"))
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
