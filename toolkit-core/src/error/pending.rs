//! Errors for pending calls, whose results come later.

use super::{ErrorKind, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Why the result of a call comes later.
///
/// A tool or a middleware ends the call with a [`Pending`](ErrorKind::Pending) error. An agent then
/// interrupts its run until the program provides the decision or the result. Elsewhere, the error is an
/// ordinary result for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Pending {
    /// The call must be approved before it runs.
    #[non_exhaustive]
    Approval {
        /// Why the call needs approval.
        reason: String,
    },
    /// The user must answer a question. The answer is the call's result.
    #[non_exhaustive]
    Question {
        /// The question for the user.
        question: String,
    },
    /// The work continues elsewhere, for example in a job queue. Its outcome is the call's result.
    #[non_exhaustive]
    Deferred {
        /// Data for the program, such as the id of a job.
        job: Value,
    },
}

impl ToolError {
    /// Creates the error of a call that waits for approval.
    ///
    /// ```
    /// use toolkit_ai::ToolError;
    ///
    /// let error = ToolError::needs_approval("pay", "it costs more than 100 €");
    /// assert_eq!(error.message(), "Tool `pay` was not run: it waits for approval (it costs more than 100 €)");
    /// ```
    #[must_use]
    pub fn needs_approval(tool: &str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let message = format!("Tool `{tool}` was not run: it waits for approval ({reason})");
        Self::pending_for(Pending::Approval { reason }, message).with_brief("Waits for approval")
    }

    /// Creates the error of a call that waits for the user's answer.
    ///
    /// ```
    /// use toolkit_ai::ToolError;
    ///
    /// let error = ToolError::question("Which of the two accounts?");
    /// assert_eq!(error.message(), "The user was asked and has not answered yet: Which of the two accounts?");
    /// ```
    #[must_use]
    pub fn question(question: impl Into<String>) -> Self {
        let question = question.into();
        let message = format!("The user was asked and has not answered yet: {question}");
        Self::pending_for(Pending::Question { question }, message).with_brief("Waits for an answer")
    }

    /// Creates the error of a call whose work continues elsewhere. `job` is data for the program, such as
    /// the id of a job.
    ///
    /// ```
    /// use toolkit_ai::{ErrorKind, ToolError};
    ///
    /// let error = ToolError::deferred("job 17");
    /// assert_eq!(error.kind(), ErrorKind::Pending);
    /// assert_eq!(error.message(), "The result comes later");
    /// ```
    #[must_use]
    pub fn deferred(job: impl Into<Value>) -> Self {
        Self::pending_for(Pending::Deferred { job: job.into() }, "The result comes later".to_owned())
    }

    fn pending_for(pending: Pending, message: String) -> Self {
        let mut error = Self::new(ErrorKind::Pending, message);
        error.0.pending = Some(Box::new(pending));
        error
    }

    /// Returns why the result comes later; `None` unless the kind is [`ErrorKind::Pending`].
    #[must_use]
    pub fn pending(&self) -> Option<&Pending> {
        self.0.pending.as_deref()
    }
}

impl Pending {
    pub(super) fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        match self {
            Self::Approval { reason: text } | Self::Question { question: text } => *text = change(text),
            Self::Deferred { job } => map_strings(job, change),
        }
    }
}

fn map_strings(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => {
            for item in items {
                map_strings(item, change);
            }
        }
        Value::Object(members) => {
            for member in members.values_mut() {
                map_strings(member, change);
            }
        }
        _ => {}
    }
}

impl fmt::Display for Pending {
    /// Formats the reason for a human.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approval { reason } => write!(f, "waits for approval: {reason}"),
            Self::Question { question } => write!(f, "waits for an answer: {question}"),
            Self::Deferred { job } => write!(f, "waits for the result of {job}"),
        }
    }
}
