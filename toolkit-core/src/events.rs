//! Events of calls: streams, listeners, a log, and statistics.

mod bus;
mod emitter;
mod from_json;
mod inside;
mod listen;
mod log;
mod statistics;

pub use inside::{RuleDecision, RuleEffect, WaitResource};
pub use listen::{EventReceiver, Lagged, ToolEvents};
pub use log::{ExecutionLog, LogEntry, LogFilter};
pub use statistics::{LogStatistics, ToolStatistics};

pub(crate) use bus::EventBus;
pub(crate) use emitter::{CallGuard, EventEmitter};

use crate::call::CallId;
use crate::error::{ErrorKind, ToolError, flat_error};
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

#[cfg(feature = "tracing")]
pub use crate::trace::METRICS_TARGET;

/// One event of a call.
///
/// Each call has exactly one first event, [`Called`](ToolEventKind::Called), and one last event,
/// [`Ended`](ToolEventKind::Ended). All `Called` events of calls dispatched together come before the first
/// call starts.
///
/// A serialized event is one flat JSON object, and can be deserialized. Its member `type` is the
/// [name](Self::name) of the event. Times are in whole milliseconds. Only the first event of a call
/// contains the arguments. The [details](ToolError::details) of an error need a setting of the error, and
/// a dispatcher that [includes contents](crate::Dispatcher::with_event_contents).
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolCall, ToolRegistry};
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
///
/// let read: toolkit_ai::events::ToolEvent = serde_json::from_value(ended)?;
/// assert_eq!((read.name(), read.call.tool.as_str()), ("tool.error", "add"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolEvent {
    /// When it occurred.
    pub time: SystemTime,
    /// The call, shared by all its events.
    pub call: Arc<EventCall>,
    /// What occurred.
    pub kind: ToolEventKind,
}

/// The call that an event belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventCall {
    /// The id of the batch, unique within the dispatcher and its clones.
    pub batch: u64,
    /// The position of the call in its batch, from 0.
    pub position: usize,
    /// The provider's id of the call.
    pub call_id: CallId,
    /// The name of the tool, or of the call if the tool is unknown.
    pub tool: String,
    /// The [id of the run](crate::RunContext::with_invocation_id), if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invocation_id: Option<String>,
    /// The name of the [agent](crate::RunContext::with_agent_name), if the run has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// The model's reason for the call, if the registry [asks](crate::ToolRegistry::with_call_reason).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_reason: Option<String>,
    /// The size of the arguments in bytes.
    pub arguments_bytes: usize,
    /// The arguments, if the dispatcher [includes contents](crate::Dispatcher::with_event_contents).
    ///
    /// In JSON, only the first event of a call and the entries of a log have them.
    #[serde(skip)]
    pub arguments: Option<Arc<str>>,
}

/// The kind of an event.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ToolEventKind {
    /// `tool.call`: the call is queued.
    Called,
    /// `tool.start`: an attempt of the tool starts.
    #[non_exhaustive]
    Started {
        /// The attempt, counted from 1.
        attempt: u32,
        /// The arguments in their [normal form](crate::middleware::ToolRequest::arguments_value), if they are valid and
        /// the dispatcher [includes contents](crate::Dispatcher::with_event_contents).
        #[serde(serialize_with = "text", skip_serializing_if = "Option::is_none")]
        normal_arguments: Option<Arc<str>>,
    },
    /// `tool.waiting`: the call waits for a resource that other calls hold.
    #[non_exhaustive]
    Waiting {
        /// What the call waits for.
        #[serde(flatten)]
        resource: WaitResource,
    },
    /// `tool.admitted`: a wait is over.
    #[non_exhaustive]
    Admitted {
        /// What the call has waited for.
        #[serde(flatten)]
        resource: WaitResource,
        /// The time of the wait.
        #[serde(rename = "waited_ms", serialize_with = "milliseconds")]
        waited: Duration,
    },
    /// `tool.rule`: [permissions](crate::middleware::Permissions) have decided about the call.
    RuleDecided(RuleDecision),
    /// `tool.progress`: the tool has [reported progress](crate::ToolContext::progress).
    #[non_exhaustive]
    Progress {
        /// The finished fraction, from 0 to 1.
        fraction: f64,
        /// A message for users, such as the current step.
        #[serde(serialize_with = "text")]
        message: Arc<str>,
    },
    /// `tool.approval_requested`: a permission rule asks for approval.
    #[non_exhaustive]
    ApprovalRequested {
        /// Why the call needs approval.
        #[serde(serialize_with = "text")]
        reason: Arc<str>,
    },
    /// `tool.approval_decided`: the approver has decided, or the time limit has expired.
    #[non_exhaustive]
    ApprovalDecided {
        /// Whether the call may run.
        approved: bool,
        /// The time from the request to the decision.
        #[serde(rename = "waited_ms", serialize_with = "milliseconds")]
        waited: Duration,
    },
    /// `tool.retry`: an attempt has failed, and another follows.
    #[non_exhaustive]
    Retried {
        /// The attempt, counted from 1.
        attempt: u32,
        /// The error of the failed attempt, as in [`CallEnd::error`].
        #[serde(flatten, serialize_with = "flat_error")]
        error: ToolError,
        /// The pause before the next attempt.
        #[serde(rename = "pause_ms", serialize_with = "milliseconds")]
        pause: Duration,
    },
    /// `tool.result`, `tool.error`, `tool.denied`, `tool.timeout`, `tool.cancelled` or `tool.pending`: the
    /// end.
    Ended(CallEnd),
}

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallEnd {
    /// The status of the call.
    #[serde(skip)]
    pub status: CallStatus,
    /// The error of a failed call.
    ///
    /// Unless the dispatcher [includes contents](crate::Dispatcher::with_event_contents), it has only its
    /// kind and a text for it.
    #[serde(flatten, serialize_with = "flat_error")]
    pub error: Option<ToolError>,
    /// The running time of the tool over all attempts; zero if it did not run.
    #[serde(rename = "duration_ms", serialize_with = "milliseconds")]
    pub duration: Duration,
    /// The time since the call was queued.
    #[serde(rename = "total_ms", serialize_with = "milliseconds")]
    pub total: Duration,
    /// The number of attempts; zero if the tool did not run.
    pub attempts: u32,
    /// The names of the parameters with coerced values, such as `"5"` coerced to 5.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coerced: Vec<String>,
    /// The size of the result in bytes, with media in their encoded form.
    pub output_bytes: usize,
    /// The output for the model, if the dispatcher [includes
    /// contents](crate::Dispatcher::with_event_contents).
    #[serde(serialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub output: Option<Arc<str>>,
}

/// The status of an ended call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CallStatus {
    /// The call has an output.
    Success,
    /// The call failed, but was neither denied, timed out nor cancelled.
    Error,
    /// A permission rule or an approver denied the call.
    Denied,
    /// The tool exceeded its time limit.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
    /// The result comes later, see [`ErrorKind::Pending`].
    Pending,
}

impl CallStatus {
    fn from_error(error: Option<&ToolError>) -> Self {
        match error.map(ToolError::kind) {
            None => Self::Success,
            Some(ErrorKind::Denied) => Self::Denied,
            Some(ErrorKind::TimedOut) => Self::TimedOut,
            Some(ErrorKind::Cancelled) => Self::Cancelled,
            Some(ErrorKind::Pending) => Self::Pending,
            Some(_) => Self::Error,
        }
    }

    const ALL: [Self; 6] =
        [Self::Success, Self::Error, Self::Denied, Self::TimedOut, Self::Cancelled, Self::Pending];

    /// Returns the name of the last event, such as `tool.result`.
    #[must_use]
    pub fn event_name(self) -> &'static str {
        match self {
            Self::Success => "tool.result",
            Self::Error => "tool.error",
            Self::Denied => "tool.denied",
            Self::TimedOut => "tool.timeout",
            Self::Cancelled => "tool.cancelled",
            Self::Pending => "tool.pending",
        }
    }
}

impl ToolEvent {
    /// Returns the name of the event, such as `tool.start`.
    ///
    /// The name of a call's last event depends on its [status](CallStatus::event_name).
    #[must_use]
    pub fn name(&self) -> &'static str {
        match &self.kind {
            ToolEventKind::Called => "tool.call",
            ToolEventKind::Started { .. } => "tool.start",
            ToolEventKind::Waiting { .. } => "tool.waiting",
            ToolEventKind::Admitted { .. } => "tool.admitted",
            ToolEventKind::RuleDecided(_) => "tool.rule",
            ToolEventKind::Progress { .. } => "tool.progress",
            ToolEventKind::ApprovalRequested { .. } => "tool.approval_requested",
            ToolEventKind::ApprovalDecided { .. } => "tool.approval_decided",
            ToolEventKind::Retried { .. } => "tool.retry",
            ToolEventKind::Ended(end) => end.status.event_name(),
        }
    }

    /// Returns the end of the call, if this is the last event.
    #[must_use]
    pub fn end(&self) -> Option<&CallEnd> {
        match &self.kind {
            ToolEventKind::Ended(end) => Some(end),
            _ => None,
        }
    }
}

impl Serialize for ToolEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let with_arguments = matches!(self.kind, ToolEventKind::Called);
        flat(self.name(), self.time, &self.call, with_arguments, &self.kind, serializer)
    }
}

fn flat<S: Serializer>(
    name: &str,
    time: SystemTime,
    call: &EventCall,
    with_arguments: bool,
    kind: &impl Serialize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Flat<'a, K> {
        #[serde(rename = "type")]
        name: &'a str,
        timestamp_ms: u64,
        #[serde(flatten)]
        call: &'a EventCall,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<&'a str>,
        #[serde(flatten)]
        kind: &'a K,
    }
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let timestamp_ms = u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX);
    let arguments = call.arguments.as_deref().filter(|_| with_arguments);
    Flat { name, timestamp_ms, call, arguments, kind }.serialize(serializer)
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64() * 1_000.0)
}

fn text<'a, S: Serializer>(text: impl Into<Option<&'a Arc<str>>>, serializer: S) -> Result<S::Ok, S::Error> {
    text.into().map(|text| &**text).serialize(serializer)
}
