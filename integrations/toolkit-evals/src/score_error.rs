//! The error of a scorer.

use std::fmt;
use toolkit_agent::{AgentError, RunError};
use toolkit_core::BuildError;
use toolkit_llm::{ModelError, Usage};

/// Why a [`Scorer`](crate::Scorer) has no score, with the tokens that it used. `?` converts errors of runs.
///
/// ```
/// use toolkit_evals::ScoreError;
///
/// let error = ScoreError::new("the database is closed");
/// assert_eq!(error.to_string(), "the database is closed");
/// assert!(error.usage().is_empty());
/// ```
#[derive(Clone, PartialEq)]
pub struct ScoreError {
    message: String,
    usage: Usage,
}

impl ScoreError {
    /// Creates an error with this message.
    #[must_use]
    pub fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), usage: Usage::default() }
    }

    /// Sets the tokens used by the scorer.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Returns the tokens used by the scorer.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }
}

impl From<RunError> for ScoreError {
    fn from(error: RunError) -> Self {
        Self::new(&error).with_usage(error.output.usage)
    }
}

impl From<AgentError> for ScoreError {
    fn from(error: AgentError) -> Self {
        Self::new(error)
    }
}

impl From<ModelError> for ScoreError {
    fn from(error: ModelError) -> Self {
        Self::new(error)
    }
}

impl From<BuildError> for ScoreError {
    fn from(error: BuildError) -> Self {
        Self::new(error)
    }
}

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for ScoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ScoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ScoreError {}
