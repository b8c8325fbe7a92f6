//! Errors of a run.

use crate::model::ModelError;
use crate::pending::PendingCall;
use crate::session::StoreError;
use std::error::Error;
use std::fmt;
use std::time::Duration;
use toolkit_core::BuildError;

/// An error of a run.
///
/// The conversation can be continued after any error. Every call in its messages has a result, and the
/// pending calls of an interrupted run can still be decided.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AgentError {
    /// A model call failed. If the error was temporary, the retries failed too.
    Model(ModelError),
    /// The run reached a limit.
    Limit(Limit),
    /// The run was cancelled.
    Cancelled,
    /// The run has stopped because calls wait for decisions or results from the program. The conversation
    /// contains the pending calls, even after it is saved and loaded again.
    /// [`Agent::resume`](crate::Agent::resume) continues the run with
    /// [decisions](crate::RunOptions::with_decisions).
    #[non_exhaustive]
    Interrupted {
        /// The pending calls.
        pending: Vec<PendingCall>,
    },
    /// A decision is not about a pending call, or approves a call that does not wait for approval. The
    /// conversation is unchanged.
    InvalidDecision(String),
    /// The tools of the agent are invalid.
    Build(BuildError),
    /// No answer of the model matched the requested type, or the model refused to answer.
    InvalidOutput(String),
    /// The conversation was transferred to an agent outside the team.
    UnknownAgent(String),
    /// All agents of a parallel team failed. The list contains the name and the error of each agent.
    Branches(Vec<(String, Self)>),
    /// The conversation could not be read or saved.
    Store(StoreError),
    /// Any other error.
    Other(String),
}

/// A limit reached by a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The number of model calls.
    ModelCalls(u32),
    /// The number of input and output tokens together.
    Tokens(u64),
    /// The duration of the run.
    Duration(Duration),
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => error.fmt(f),
            Self::Limit(limit) => limit.fmt(f),
            Self::Cancelled => f.write_str("the run was cancelled"),
            Self::Interrupted { pending } => {
                f.write_str("the run was interrupted; resume it with decisions about its pending calls")?;
                let line =
                    |call: &PendingCall| (call.id.clone(), call.call.name.clone(), call.reason.to_string());
                pending
                    .iter()
                    .map(line)
                    .try_for_each(|(id, tool, reason)| write!(f, "\n- `{id}`: `{tool}` {reason}"))
            }
            Self::InvalidDecision(reason) => f.write_str(reason),
            Self::Build(error) => error.fmt(f),
            Self::InvalidOutput(reason) => {
                write!(f, "the answer does not match the requested type: {reason}")
            }
            Self::UnknownAgent(name) => {
                write!(f, "agent `{name}` not found; add it to the team or correct `transfer_to`")
            }
            Self::Branches(failed) => {
                f.write_str("all agents failed")?;
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
            Self::ModelCalls(max) => write!(f, "exceeded {max} model calls; possible infinite loop"),
            Self::Tokens(max) => write!(f, "exceeded {max} tokens"),
            Self::Duration(max) => write!(f, "exceeded {} s", max.as_secs_f64()),
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

from_contents!(AgentError: Model(ModelError), Store(StoreError), Build(BuildError));
