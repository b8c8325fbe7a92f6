//! The final answer that a run is expected to give.

use crate::helpers::lock;
use std::sync::{Arc, Mutex};
use toolkit_llm::FinishReason;
use toolkit_llm::model::answer::AnswerFormat;

/// The [finish reason](FinishReason::Other) of an answer that replaces a blocked value, such as an input or a
/// response. A guardrail has blocked the value.
pub(crate) const BLOCKED: &str = "blocked";

/// Returns whether the answer replaces a value that a guardrail has blocked.
pub(crate) fn is_blocked(finish: &FinishReason) -> bool {
    matches!(finish, FinishReason::Other(reason) if reason == BLOCKED)
}

/// The answering agent of a run, and its answer tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AnswerSource {
    /// The name of the agent. Empty before the first turn.
    pub(crate) agent: String,
    /// The name of the answer tool. Its arguments are the answer. Empty if the answer is text.
    pub(crate) tool: String,
}

/// The final answer that a run is expected to give, shared by all agents that may give it.
#[derive(Debug)]
pub(crate) struct ExpectedAnswer {
    pub(crate) format: Arc<AnswerFormat>,
    /// The source of the answer. It is updated in each turn of an agent that may give the answer.
    source: Mutex<AnswerSource>,
}

impl ExpectedAnswer {
    pub(crate) fn new(format: Arc<AnswerFormat>) -> Self {
        Self { format, source: Mutex::default() }
    }

    /// Returns the source of the answer, as of the latest turn of an agent that may give the answer.
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
