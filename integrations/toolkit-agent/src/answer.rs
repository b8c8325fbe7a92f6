//! The final answer that a run is expected to give.

use crate::helpers::lock;
use std::sync::{Arc, Mutex};
use toolkit_llm::FinishReason;
use toolkit_llm::model::answer::AnswerFormat;

/// The [finish reason](FinishReason::Other) of an answer that replaces a value blocked by a guardrail.
pub(crate) const BLOCKED: &str = "blocked";

pub(crate) fn is_blocked(finish: &FinishReason) -> bool {
    matches!(finish, FinishReason::Other(reason) if reason == BLOCKED)
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AnswerSource {
    /// The answering agent. Empty before the first turn.
    pub(crate) agent: String,
    /// The tool whose arguments are the answer. Empty for text.
    pub(crate) tool: String,
}

/// The expected answer, shared by the agents that may answer.
#[derive(Debug)]
pub(crate) struct ExpectedAnswer {
    pub(crate) format: Arc<AnswerFormat>,
    /// Updated in each turn of an agent that may give the answer.
    source: Mutex<AnswerSource>,
}

impl ExpectedAnswer {
    pub(crate) fn new(format: Arc<AnswerFormat>) -> Self {
        Self { format, source: Mutex::default() }
    }

    /// Returns the source as of the latest such turn.
    pub(crate) fn source(&self) -> AnswerSource {
        lock(&self.source).clone()
    }

    pub(crate) fn set_source(&self, agent: &str, tool: &str) {
        let mut source = lock(&self.source);
        if source.agent != agent || source.tool != tool {
            *source = AnswerSource { agent: agent.to_owned(), tool: tool.to_owned() };
        }
    }
}
