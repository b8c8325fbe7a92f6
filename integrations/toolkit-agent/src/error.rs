//! Why a run has no answer.

use crate::model::ModelError;
use crate::session::StoreError;
use std::error::Error;
use std::fmt;
use std::time::Duration;
use toolkit_core::BuildError;

/// Why a run has no answer. Whatever it is, every call in the conversation is answered, and it can be gone on with.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AgentError {
    /// The model has not answered, however often it was asked.
    Model(ModelError),
    /// The run has come to one of its limits.
    Limit(Limit),
    /// The run was cancelled.
    Cancelled,
    /// The tools cannot be used.
    Build(BuildError),
    /// The answer is not of the form that was asked for, after several attempts.
    InvalidOutput(String),
    /// There is no agent of this name to go on with.
    UnknownAgent(String),
    /// Agents that ran side by side have failed: their names, and why.
    Branches(Vec<(String, Self)>),
    /// The conversation could not be read or saved.
    Store(StoreError),
    /// Something else, in words of the program.
    Other(String),
}

/// A limit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// How often models may be asked.
    ModelCalls(u32),
    /// How many tokens may be read and written.
    Tokens(u64),
    /// How long the run may take.
    Duration(Duration),
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => error.fmt(f),
            Self::Limit(limit) => limit.fmt(f),
            Self::Cancelled => f.write_str("the run was cancelled"),
            Self::Build(error) => error.fmt(f),
            Self::InvalidOutput(reason) => write!(f, "the answer is not of the form asked for: {reason}"),
            Self::UnknownAgent(name) => write!(f, "there is no agent `{name}`"),
            Self::Branches(failed) => {
                f.write_str("agents have failed")?;
                failed.iter().try_for_each(|(name, error)| write!(f, "\n- `{name}`: {error}"))
            }
            Self::Store(error) => error.fmt(f),
            Self::Other(reason) => f.write_str(reason),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ModelCalls(most) => write!(f, "exceeded {most} model calls; possible infinite loop"),
            Self::Tokens(most) => write!(f, "exceeded {most} tokens"),
            Self::Duration(most) => write!(f, "exceeded {} s", most.as_secs_f64()),
        }
    }
}

impl Error for AgentError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Model(error) => Some(error),
            Self::Build(error) => Some(error),
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ModelError> for AgentError {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

impl From<StoreError> for AgentError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<BuildError> for AgentError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}
