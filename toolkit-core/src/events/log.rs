//! A log of ended calls, with filters.

use super::{CallEnd, CallStatus, EventCall, LogStatistics, ToolEvent, ToolEventKind, flat};
use crate::error::{ErrorKind, ToolError};
use crate::guard::lock;
use serde::{Serialize, Serializer};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// A log of the latest ended calls, also of unknown tools. Clones share it.
///
/// One or several [dispatchers](crate::Dispatcher::with_log) record their calls in it.
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolCall, ToolRegistry};
/// use toolkit_ai::events::{CallStatus, ExecutionLog, LogFilter};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let log = ExecutionLog::new(1_000);
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_log(&log);
/// dispatcher.dispatch(["add", "sub"].map(|tool| ToolCall::new("1", tool, "{}"))).await;
///
/// let failed = log.entries(&LogFilter::new().with_status(CallStatus::Error).with_limit(10));
/// assert_eq!(failed.len(), 2);
/// assert_eq!(log.statistics(&LogFilter::new().with_tool("sub")).all.calls, 1);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct ExecutionLog(Arc<LogState>);

struct LogState {
    capacity: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The ended calls, oldest first.
    entries: VecDeque<LogEntry>,
    recorded: u64,
}

/// One call in a log, serialized as its last event with the arguments added.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LogEntry {
    /// When the call ended.
    pub time: SystemTime,
    /// The tool name, ids and arguments.
    pub call: Arc<EventCall>,
    /// The status, error and durations.
    pub end: CallEnd,
}

impl Serialize for LogEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        flat(self.end.status.event_name(), self.time, &self.call, true, &self.end, serializer)
    }
}

impl ExecutionLog {
    /// Creates a log of at most `capacity` calls.
    pub fn new(capacity: usize) -> Self {
        Self(Arc::new(LogState { capacity, kept: Mutex::default() }))
    }

    /// Records a call if `event`, perhaps from another source than a dispatcher, is its last.
    pub fn record(&self, event: &ToolEvent) {
        let ToolEventKind::Ended(end) = &event.kind else { return };
        let entry = LogEntry { time: event.time, call: event.call.clone(), end: end.clone() };
        let mut kept = self.kept();
        kept.recorded += 1;
        let oldest = if kept.entries.len() >= self.0.capacity { kept.entries.pop_front() } else { None };
        if self.0.capacity > 0 {
            kept.entries.push_back(entry);
        }
        drop(kept);
        // The lock is released first: dropping a large entry takes time.
        drop(oldest);
    }

    /// Returns the calls matching the filter, latest first.
    #[must_use]
    pub fn entries(&self, filter: &LogFilter) -> Vec<LogEntry> {
        filter.select(&self.kept()).cloned().collect()
    }

    /// Returns statistics of the calls matching the filter.
    #[must_use]
    pub fn statistics(&self, filter: &LogFilter) -> LogStatistics {
        LogStatistics::of(filter.select(&self.kept()))
    }

    /// Returns the number of calls ever recorded.
    #[must_use]
    pub fn recorded(&self) -> u64 {
        self.kept().recorded
    }

    /// Returns the number of calls in the log.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept().entries.len()
    }

    /// Returns whether the log is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all calls from the log.
    pub fn clear(&self) {
        self.kept().entries.clear();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.0.kept)
    }
}

impl_debug!(ExecutionLog, |this| len: this.len(), capacity: this.0.capacity, recorded: this.recorded());

type Condition = dyn Fn(&LogEntry) -> bool + Send + Sync;

/// A filter for calls in a log. Without conditions, it matches all calls.
///
/// ```
/// use toolkit_ai::events::{CallStatus, ExecutionLog, LogFilter};
/// use toolkit_ai::{Dispatcher, ToolCall, ToolRegistry};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let log = ExecutionLog::new(1_000);
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_log(&log);
/// dispatcher.dispatch([ToolCall::new("call_1", "weather", "{}")]).await;
/// let failed = LogFilter::new().with_status(CallStatus::Error).with_limit(10);
/// assert_eq!(log.entries(&failed).len(), 1); // there is no tool `weather`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct LogFilter {
    limit: Option<usize>,
    conditions: Vec<Arc<Condition>>,
}

impl LogFilter {
    /// Creates a filter for all calls.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps at most the latest `calls` that match.
    pub fn with_limit(mut self, calls: usize) -> Self {
        self.limit = Some(calls);
        self
    }

    /// Keeps only calls for which `condition` returns `true`.
    pub fn when(mut self, condition: impl Fn(&LogEntry) -> bool + Send + Sync + 'static) -> Self {
        self.conditions.push(Arc::new(condition));
        self
    }

    /// Keeps only calls of a tool.
    pub fn with_tool(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.when(move |entry| entry.call.tool == name)
    }

    /// Keeps only calls with this status.
    pub fn with_status(self, status: CallStatus) -> Self {
        self.when(move |entry| entry.end.status == status)
    }

    /// Keeps only failed calls with this kind of error.
    pub fn with_error(self, kind: ErrorKind) -> Self {
        self.when(move |entry| entry.end.error.as_ref().map(ToolError::kind) == Some(kind))
    }

    /// Keeps only calls ended at `time` or later.
    pub fn with_since(self, time: SystemTime) -> Self {
        self.when(move |entry| entry.time >= time)
    }

    /// Keeps only calls of the run with this id.
    pub fn with_invocation_id(self, id: impl Into<String>) -> Self {
        let id = id.into();
        self.when(move |entry| entry.call.invocation_id.as_ref() == Some(&id))
    }

    /// Keeps only calls of the batch with this id.
    pub fn with_batch(self, batch: u64) -> Self {
        self.when(move |entry| entry.call.batch == batch)
    }

    /// Keeps only calls with coerced values.
    pub fn with_coercions(self) -> Self {
        self.when(|entry| !entry.end.coerced.is_empty())
    }

    fn select<'a>(&self, kept: &'a Kept) -> impl Iterator<Item = &'a LogEntry> {
        let limit = self.limit.unwrap_or(usize::MAX);
        kept.entries.iter().rev().filter(|entry| self.matches(entry)).take(limit)
    }

    fn matches(&self, entry: &LogEntry) -> bool {
        self.conditions.iter().all(|condition| condition(entry))
    }
}

impl_debug!(LogFilter, |this| limit: this.limit, conditions: this.conditions.len());
