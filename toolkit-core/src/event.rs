//! What happens to calls, told to whoever listens.

mod hub;
mod json;
mod listen;
mod log;
mod statistics;
mod teller;

pub use listen::{Lagged, ToolEvents};
pub use log::{ExecutionLog, LogEntry, LogFilter};
pub use statistics::{LogStatistics, ToolStatistics};

pub(crate) use hub::Hub;
pub(crate) use listen::Listening;
pub(crate) use teller::{Ending, Teller};

use crate::call::CallId;
use crate::error::{ErrorKind, ToolError};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// One thing that happened to a call.
///
/// Of each call there is exactly one [`Called`](ToolEventKind::Called), which is the first, and exactly one
/// [`Ended`](ToolEventKind::Ended), which is the last; all calls of a batch are told before the first of them
/// starts. Written as JSON, an event is one flat object whose `type` is its [name](Self::name).
///
/// ```
/// use toolkit::{Dispatcher, ToolCall, ToolRegistry};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?;
/// let mut events = dispatcher.events();
/// dispatcher.dispatch([ToolCall::new("call_1", "add", r#"{"a": 1}"#)]).await;
///
/// let called = events.next().await.unwrap()?;
/// assert_eq!((called.name(), called.call.arguments_bytes), ("tool.call", 8));
/// let ended = serde_json::to_value(events.next().await.unwrap()?)?;
/// assert_eq!(ended["type"], "tool.error");
/// assert_eq!(ended["error"], "not_found");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolEvent {
    /// When it happened.
    pub time: SystemTime,
    /// To which call; the events of a call share it.
    pub call: Arc<EventCall>,
    /// What happened.
    pub kind: ToolEventKind,
}

/// What the events of a call say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventCall {
    /// The number of the batch. No other batch of the dispatcher and its clones has it.
    pub batch: u64,
    /// The position of the call in its batch, counted from 0.
    pub position: usize,
    /// The provider's id of the call.
    pub call_id: CallId,
    /// The name of the tool; if there is no such tool, what the model called.
    pub tool: String,
    /// The [id of the run](crate::RunContext::with_invocation_id), if the dispatcher was told.
    pub invocation_id: Option<String>,
    /// The [agent](crate::RunContext::with_agent_name) that runs, if the dispatcher was told.
    pub agent_name: Option<String>,
    /// Why the model makes the call, if it was [asked](crate::ToolRegistry::with_call_reason) and has said so.
    pub reason: Option<String>,
    /// How long the arguments are that the tool gets, in bytes.
    pub arguments_bytes: usize,
    /// The arguments, if the dispatcher [tells contents](crate::Dispatcher::with_event_contents).
    pub arguments: Option<Arc<str>>,
}

/// What happened to a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolEventKind {
    /// `tool.call`: the model asks for the call. It may have to wait until it runs.
    Called,
    /// `tool.start`: the tool runs. A call that is answered without its tool has none, one that is tried again has
    /// several.
    #[non_exhaustive]
    Started {
        /// Which attempt it is, counted from 1.
        attempt: u32,
    },
    /// `tool.progress`: the tool has told [how far it has come](crate::ToolContext::progress).
    #[non_exhaustive]
    Progress {
        /// Which part is done, from 0 to 1.
        fraction: f64,
        /// What is being done, for people.
        message: Arc<str>,
    },
    /// `tool.asked`: somebody is asked whether the call may run.
    #[non_exhaustive]
    Asked {
        /// Why.
        reason: Arc<str>,
    },
    /// `tool.answered`: it was decided whether the call may run, by who was asked or because nobody answered.
    #[non_exhaustive]
    Answered {
        /// Whether it may.
        approved: bool,
        /// How long that took.
        waited: Duration,
    },
    /// `tool.retry`: an attempt has failed, and the call is tried again after a pause.
    #[non_exhaustive]
    Retried {
        /// Which attempt has failed, counted from 1.
        attempt: u32,
        /// How it has failed.
        error: ToolError,
        /// How long the pause is.
        pause: Duration,
    },
    /// `tool.result`, `tool.error`, `tool.denied`, `tool.timeout` or `tool.cancelled`: the call has ended.
    Ended(CallEnd),
}

/// How a call has ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallEnd {
    /// What came of it; [`CallStatus::Success`] where there is no error.
    pub status: CallStatus,
    /// What the model reads instead of an output.
    pub error: Option<ToolError>,
    /// How long the tool ran, all attempts together; zero if it did not.
    pub duration: Duration,
    /// How long it took from the call to here, with everything that it waited for.
    pub total: Duration,
    /// How often the tool was started.
    pub attempts: u32,
    /// The parameters whose values were taken otherwise than they were written, such as `"5"` for 5.
    pub coerced: Vec<String>,
    /// How much comes back, in bytes: text, and media as they are sent.
    pub output_bytes: usize,
    /// The text that the model reads, if the call succeeded and the dispatcher
    /// [tells contents](crate::Dispatcher::with_event_contents).
    pub output: Option<Arc<str>>,
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CallStatus {
    /// There is an output.
    Success,
    /// It failed: no such tool, wrong arguments, a failure, a panic.
    Error,
    /// A policy or a person refused it.
    Denied,
    /// The tool did not finish within its time limit.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

impl CallStatus {
    fn of(error: Option<&ToolError>) -> Self {
        match error.map(ToolError::kind) {
            None => Self::Success,
            Some(ErrorKind::Denied) => Self::Denied,
            Some(ErrorKind::TimedOut) => Self::TimedOut,
            Some(ErrorKind::Cancelled) => Self::Cancelled,
            Some(_) => Self::Error,
        }
    }

    /// The name of the event that tells it, as in `tool.result`.
    #[must_use]
    pub fn event_name(self) -> &'static str {
        match self {
            Self::Success => "tool.result",
            Self::Error => "tool.error",
            Self::Denied => "tool.denied",
            Self::TimedOut => "tool.timeout",
            Self::Cancelled => "tool.cancelled",
        }
    }
}

impl ToolEvent {
    /// What happened, in a word: `tool.call`, `tool.start`, `tool.progress`, `tool.asked`, `tool.answered`,
    /// `tool.retry`, or how it [ended](CallStatus::event_name).
    #[must_use]
    pub fn name(&self) -> &'static str {
        match &self.kind {
            ToolEventKind::Called => "tool.call",
            ToolEventKind::Started { .. } => "tool.start",
            ToolEventKind::Progress { .. } => "tool.progress",
            ToolEventKind::Asked { .. } => "tool.asked",
            ToolEventKind::Answered { .. } => "tool.answered",
            ToolEventKind::Retried { .. } => "tool.retry",
            ToolEventKind::Ended(end) => end.status.event_name(),
        }
    }

    /// How the call has ended, if this is its last event.
    #[must_use]
    pub fn end(&self) -> Option<&CallEnd> {
        match &self.kind {
            ToolEventKind::Ended(end) => Some(end),
            _ => None,
        }
    }
}
