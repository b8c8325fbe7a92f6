//! Scores of a trial.

use serde::{Deserialize, Serialize};
use toolkit_llm::Usage;

/// The score of one trial by one scorer.
///
/// ```
/// use toolkit_evals::{Score, Task};
///
/// let task = Task::new("brief", "What is the capital of Norway?").with_check(|transcript| {
///     let words = transcript.answer.split_whitespace().count();
///     Score::new(words <= 3, format!("{words} words"))
/// });
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Score {
    /// The name of the scorer, or `calls`, `answer` or `check` for a task's expectations.
    pub scorer: String,
    /// Whether the trial passes this scorer.
    pub passed: bool,
    /// Why the trial passes or fails, possibly empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The tokens used by the scorer, for example to ask a model.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
}

impl Score {
    /// Creates a score with a reason.
    #[must_use]
    pub fn new(passed: bool, reason: impl Into<String>) -> Self {
        Self { passed, reason: reason.into(), ..Self::default() }
    }

    pub(crate) fn named(mut self, scorer: &str) -> Self {
        scorer.clone_into(&mut self.scorer);
        self
    }
}

impl From<bool> for Score {
    fn from(passed: bool) -> Self {
        Self::new(passed, "")
    }
}

impl From<Result<(), String>> for Score {
    fn from(result: Result<(), String>) -> Self {
        Self::new(result.is_ok(), result.err().unwrap_or_default())
    }
}
