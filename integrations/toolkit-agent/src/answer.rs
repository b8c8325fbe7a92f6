//! The form of the final answer of a run.

use crate::helpers::lock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use toolkit_core::ToolError;
use toolkit_llm::FinishReason;
use toolkit_llm::model::OutputFormat;
use toolkit_llm::model::answer::AnswerMode;

/// The [finish reason](FinishReason::Other) of an answer that replaces a blocked value, such as an input or a
/// response. A guardrail has blocked the value.
pub(crate) const BLOCKED: &str = "blocked";

/// Returns whether the answer replaces a value that a guardrail has blocked.
pub(crate) fn is_blocked(finish: &FinishReason) -> bool {
    matches!(finish, FinishReason::Other(reason) if reason == BLOCKED)
}

/// Checks that an answer of the model can be decoded. Implementations know the Rust type of the answer, and
/// callers do not.
pub(crate) trait AnswerCheck: Send + Sync {
    /// Checks an answer that is text.
    ///
    /// # Errors
    /// A message for the model that describes all violations.
    fn text(&self, text: &str) -> Result<(), String>;

    /// Checks an answer that is the arguments of a tool call.
    ///
    /// # Errors
    /// The error to return to the model as the result of the call.
    fn arguments(&self, arguments: &str) -> Result<(), ToolError>;
}

/// The answering agent of a run, and its answer tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AnswerSource {
    /// The name of the agent. Empty before the first turn.
    pub(crate) agent: String,
    /// The name of the answer tool. Its arguments are the answer. Empty if the answer is text.
    pub(crate) tool: String,
}

/// The form of the final answer of a run, shared by all agents that may give this answer.
pub(crate) struct AnswerFormat {
    pub(crate) format: OutputFormat,
    /// The mode that the program has set.
    pub(crate) mode: Option<AnswerMode>,
    check: Arc<dyn AnswerCheck>,
    attempts: u32,
    /// The number of invalid answers so far.
    invalid: AtomicU32,
    /// The source of the answer. It is updated in each turn of an agent that may give the answer.
    source: Mutex<AnswerSource>,
}

impl AnswerFormat {
    pub(crate) fn new(
        format: OutputFormat,
        mode: Option<AnswerMode>,
        check: Arc<dyn AnswerCheck>,
        attempts: u32,
    ) -> Self {
        Self { format, mode, check, attempts, invalid: AtomicU32::new(0), source: Mutex::default() }
    }

    pub(crate) fn check(&self) -> &dyn AnswerCheck {
        &*self.check
    }

    /// Returns the number of invalid answers so far.
    pub(crate) fn invalid_answers(&self) -> u32 {
        self.invalid.load(Ordering::Relaxed)
    }

    /// Sets the number of invalid answers when an interrupted run continues. If the model has used up its
    /// attempts, it gets new attempts.
    pub(crate) fn continue_from(&self, invalid: u32) {
        let used_up = invalid >= self.attempts;
        self.invalid.store(if used_up { 0 } else { invalid }, Ordering::Relaxed);
    }

    /// Counts an invalid answer. Returns whether the model may answer again.
    pub(crate) fn may_repeat(&self) -> bool {
        self.invalid.fetch_add(1, Ordering::Relaxed) + 1 < self.attempts
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

debug!(AnswerFormat, self, "format": self.format.name, "mode": self.mode);
