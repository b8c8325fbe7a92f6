//! Errors of a run.

use crate::conversation::Stop;
use crate::output::RunOutput;
use crate::pending::PendingCall;
use crate::session::{EndReason, StoreError};
use std::error::Error;
use std::fmt;
use std::time::Duration;
use toolkit_core::BuildError;
use toolkit_llm::ModelError;

/// The error of a failed run, with its output.
///
/// The output has the tokens, the cost and the messages that a program needs to account for the run. `?`
/// converts the failure into an [`AgentError`] where a function returns one.
///
/// ```
/// use toolkit_ai::agent::{Agent, AgentError};
/// use toolkit_ai::llm::{ModelError, ModelResponse, Price, ScriptedModel, Usage};
/// use toolkit_ai::ToolCall;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let call = ModelResponse::calls([ToolCall::new("call_1", "search", "{}")]);
/// let model = ScriptedModel::new()
///     .response(call.with_usage(Usage::new(1_000, 100)))
///     .error(ModelError::from_status(401, "the key has expired"));
/// let agent = Agent::builder(model).price(Price::per_million(1.0, 10.0)).build()?;
/// let failed = agent.run("Search.").await.unwrap_err();
/// assert!(matches!(failed.error, AgentError::Model(_)));
/// assert_eq!((failed.output.model_calls, failed.output.cost), (2, 0.002));
/// assert_eq!(failed.output.messages.len(), 3); // the input, the call, and the result of the call
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct RunError {
    /// The error.
    pub error: AgentError,
    /// The output up to the failure.
    ///
    /// After an [interruption](AgentError::Interrupted), the messages lack the turn, which is still in
    /// progress. The tokens lack those of a model call that a timeout or a cancellation ended.
    ///
    /// After [`AgentError::InvalidOutput`], the text is the last answer of the model, or a note if the
    /// agent checks its answers with guardrails. If only the last save failed ([`AgentError::Store`]), the
    /// text is the answer.
    pub output: Box<RunOutput>,
}

/// An error of a run, returned in a [`RunError`].
///
/// The conversation can be continued after any error: every call in its messages has a result, and pending
/// calls can still be decided.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum AgentError {
    /// A model call failed, after retries of temporary errors.
    Model(ModelError),
    /// The run reached a limit. Raise it, or find the cause.
    Limit(Limit),
    /// The run was cancelled.
    Cancelled,
    /// The run has stopped because calls wait for the program. The conversation contains them, even when
    /// saved. [`Agent::resume`](crate::Agent::resume) continues the run with
    /// [decisions](crate::ResumeRequest::decide). [`RunRequest::outcome`](crate::RunRequest::outcome) returns the
    /// calls without an error.
    #[non_exhaustive]
    Interrupted {
        /// The calls that wait.
        pending: Vec<PendingCall>,
    },
    /// A decision names no pending call, or approves a call that does not wait for approval. Or the
    /// conversation was not saved as interrupted, so its run may still work. The conversation is unchanged.
    InvalidDecision(String),
    /// The run was interrupted in an agent or a team that the program no longer has, or a call waits for a
    /// tool that is gone. The conversation is unchanged: the earlier program can resume the run, and
    /// [`Conversation::abandon`](crate::Conversation::abandon) ends it.
    TeamChanged(String),
    /// The agent's tools are invalid, or a tool needs [state](crate::RunRequest::state) that the run lacks.
    /// Pending calls still wait.
    Build(BuildError),
    /// No answer of a typed run matched the type, the model refused to answer, or a
    /// [guardrail](crate::guardrail::Guardrail) blocked the answer. Simplify the type, or raise `.attempts(…)`.
    InvalidOutput(String),
    /// A [guardrail](crate::guardrail::Guardrail) has ended the run.
    #[non_exhaustive]
    Blocked {
        /// The guardrail's name.
        guardrail: String,
        /// The agent that has this guardrail.
        agent: String,
        /// The guardrail's reason.
        reason: String,
    },
    /// The model transferred to an agent outside the team.
    UnknownAgent(String),
    /// All agents of a parallel team failed. The list has the name and the error of each.
    Branches(Vec<(String, Self)>),
    /// The conversation could not be read or saved.
    Store(StoreError),
    /// Any other error.
    Other(String),
}

/// A limit reached by a run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Limit {
    /// The maximum number of model calls.
    ModelCalls(u32),
    /// The maximum of input and output tokens together.
    Tokens(u64),
    /// The maximum cost of the model calls.
    Cost(f64),
    /// The maximum duration of the run.
    Duration(Duration),
    /// The maximum number of attempts whose process has died.
    LostAttempts(u32),
}

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => error.fmt(f),
            Self::Limit(limit) => limit.fmt(f),
            Self::Cancelled => f.write_str("the run was cancelled"),
            Self::Interrupted { pending } => {
                f.write_str("the run was interrupted; resume it with decisions about its pending calls")?;
                for PendingCall { id, call, reason, .. } in pending {
                    write!(f, "\n- `{id}`: `{}` {reason}", call.name)?;
                }
                Ok(())
            }
            Self::InvalidDecision(reason) | Self::TeamChanged(reason) => f.write_str(reason),
            Self::Build(error) => error.fmt(f),
            Self::InvalidOutput(reason) => {
                write!(f, "the answer does not match the requested type: {reason}")
            }
            Self::Blocked { guardrail, agent, reason } => {
                write!(f, "guardrail `{guardrail}` of agent `{agent}` has ended the run: {reason}")
            }
            Self::UnknownAgent(name) => {
                write!(f, "agent `{name}` not found; add it to the team or correct `transfer_to`")
            }
            Self::Branches(failed) => {
                f.write_str("all agents failed")?;
                for (name, error) in failed {
                    write!(f, "\n- `{name}`: {error}")?;
                }
                Ok(())
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
            Self::Cost(max) => write!(f, "exceeded a cost of {max}"),
            Self::Duration(max) => write!(f, "exceeded {} s", max.as_secs_f64()),
            Self::LostAttempts(max) => write!(
                f,
                "{max} processes have died while they worked on the run; find out why before it is resumed with a higher limit"
            ),
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

impl AgentError {
    /// Returns why a run that fails with this error has ended.
    pub(crate) fn reason(&self) -> EndReason {
        let kind = match self {
            Self::Interrupted { .. } => return EndReason::Waiting,
            Self::Cancelled => return EndReason::Cancelled,
            Self::Model(_) => "model",
            Self::Limit(_) => "limit",
            Self::InvalidDecision(_) => "invalid_decision",
            Self::TeamChanged(_) => "team_changed",
            Self::Build(_) => "build",
            Self::InvalidOutput(_) => "invalid_output",
            Self::Blocked { .. } => "blocked",
            Self::UnknownAgent(_) => "unknown_agent",
            Self::Branches(_) => "branches",
            Self::Store(_) => "store",
            Self::Other(_) => "other",
        };
        EndReason::Failed { kind: kind.to_owned(), message: self.to_string() }
    }

    /// Returns how an attempt ends with this error.
    pub(crate) fn stop(&self) -> Stop {
        Stop { reason: self.reason(), keeps_turn: self.keeps_the_turn() }
    }

    /// Returns whether a run with the right agents, tools and state continues the unchanged turn.
    pub(crate) fn keeps_the_turn(&self) -> bool {
        matches!(self, Self::TeamChanged(_) | Self::Build(_))
    }
}

impl RunError {
    /// Creates the failure of a run. `output` is `None` if the run did not begin.
    pub(crate) fn new(error: AgentError, output: Option<RunOutput>) -> Self {
        Self { error, output: Box::new(output.unwrap_or_default()) }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Prints the message of the error, so that a failed `main` shows it.
impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<RunError> for AgentError {
    fn from(failed: RunError) -> Self {
        failed.error
    }
}

/// Implements `From` for errors before a run, with empty output.
macro_rules! before_run {
    ($($error:ty),+) => {
        $(impl From<$error> for RunError {
            fn from(error: $error) -> Self {
                Self::new(error.into(), None)
            }
        })+
    };
}

before_run!(AgentError, ModelError, StoreError, BuildError);
from_contents!(AgentError: Model(ModelError), Store(StoreError), Build(BuildError));
