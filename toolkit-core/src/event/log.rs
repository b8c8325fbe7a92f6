//! The calls that have ended, the latest of them.

use super::{CallEnd, CallStatus, EventCall, LogStatistics, ToolEvent, ToolEventKind};
use crate::error::{ErrorKind, ToolError};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The calls that have ended, the latest of them: so many as the log has room for. Clones are the same log.
///
/// Give it to a [dispatcher](crate::Dispatcher::with_log), or to several. Every call is in it, also one of a tool that
/// does not exist.
///
/// ```
/// use toolkit::{Dispatcher, ToolCall, ToolRegistry};
/// use toolkit::events::{CallStatus, ExecutionLog, LogFilter};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let log = ExecutionLog::new(1_000);
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_log(&log);
/// dispatcher.dispatch(["add", "sub"].map(|tool| ToolCall::new("1", tool, "{}"))).await;
///
/// let failed = log.entries(&LogFilter::new().with_status(CallStatus::Error).with_limit(10));
/// assert_eq!(failed.len(), 2);
/// assert_eq!(log.statistics(&LogFilter::new().with_tool("sub")).all.calls, 1);
/// # Ok::<(), toolkit::BuildError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct ExecutionLog(Arc<Inner>);

struct Inner {
    capacity: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Oldest first.
    entries: VecDeque<LogEntry>,
    recorded: u64,
}

/// One call in a log. Written as JSON, it is the call's last event with its arguments.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LogEntry {
    /// When the call has ended.
    pub time: SystemTime,
    /// The call.
    pub call: Arc<EventCall>,
    /// How it has ended.
    pub end: CallEnd,
}

impl ExecutionLog {
    /// A log of at most so many calls.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self(Arc::new(Inner { capacity, kept: Mutex::default() }))
    }

    /// Remembers the call if this is its end. Dispatchers do it for the calls that they run; a program may do it
    /// for those that come from elsewhere.
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
        // What is large is dropped after others may go on.
        drop(oldest);
    }

    /// The calls that the filter lets through, latest first.
    #[must_use]
    pub fn entries(&self, filter: &LogFilter) -> Vec<LogEntry> {
        let most = filter.limit.unwrap_or(usize::MAX);
        let kept = self.kept();
        kept.entries.iter().rev().filter(|entry| filter.lets_through(entry)).take(most).cloned().collect()
    }

    /// How the calls went that the filter lets through.
    #[must_use]
    pub fn statistics(&self, filter: &LogFilter) -> LogStatistics {
        let most = filter.limit.unwrap_or(usize::MAX);
        let kept = self.kept();
        LogStatistics::of(kept.entries.iter().rev().filter(|entry| filter.lets_through(entry)).take(most))
    }

    /// How many calls were ever recorded; those that are not [there](Self::len) any more had to make room.
    #[must_use]
    pub fn recorded(&self) -> u64 {
        self.kept().recorded
    }

    /// How many calls there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept().entries.len()
    }

    /// Whether there are no calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all calls.
    pub fn clear(&self) {
        self.kept().entries.clear();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ExecutionLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionLog")
            .field("len", &self.len())
            .field("capacity", &self.0.capacity)
            .field("recorded", &self.recorded())
            .finish()
    }
}

/// Which calls of a log are wanted: all, until something narrows it.
#[derive(Debug, Clone, Default)]
pub struct LogFilter {
    limit: Option<usize>,
    tool: Option<String>,
    status: Option<CallStatus>,
    error: Option<ErrorKind>,
    since: Option<SystemTime>,
    invocation_id: Option<String>,
    batch: Option<u64>,
    coerced: bool,
}

impl LogFilter {
    /// All calls.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Of all others, at most so many, the latest.
    #[must_use]
    pub fn with_limit(mut self, calls: usize) -> Self {
        self.limit = Some(calls);
        self
    }

    /// Only calls of the tool of this name.
    #[must_use]
    pub fn with_tool(mut self, name: impl Into<String>) -> Self {
        self.tool = Some(name.into());
        self
    }

    /// Only calls of which this came.
    #[must_use]
    pub fn with_status(mut self, status: CallStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// Only calls that failed in this way.
    #[must_use]
    pub fn with_error(mut self, kind: ErrorKind) -> Self {
        self.error = Some(kind);
        self
    }

    /// Only calls that ended then or later.
    #[must_use]
    pub fn with_since(mut self, time: SystemTime) -> Self {
        self.since = Some(time);
        self
    }

    /// Only calls of the run with this id.
    #[must_use]
    pub fn with_invocation_id(mut self, id: impl Into<String>) -> Self {
        self.invocation_id = Some(id.into());
        self
    }

    /// Only calls of the batch with this number.
    #[must_use]
    pub fn with_batch(mut self, batch: u64) -> Self {
        self.batch = Some(batch);
        self
    }

    /// Only calls of which some values were taken otherwise than they were written.
    #[must_use]
    pub fn with_coercions(mut self) -> Self {
        self.coerced = true;
        self
    }

    fn lets_through(&self, LogEntry { time, call, end }: &LogEntry) -> bool {
        fn fits<T: PartialEq>(wanted: Option<&T>, found: Option<&T>) -> bool {
            wanted.is_none() || wanted == found
        }
        fits(self.tool.as_ref(), Some(&call.tool))
            && fits(self.status.as_ref(), Some(&end.status))
            && fits(self.error.as_ref(), end.error.as_ref().map(ToolError::kind).as_ref())
            && fits(self.invocation_id.as_ref(), call.invocation_id.as_ref())
            && fits(self.batch.as_ref(), Some(&call.batch))
            && self.since.is_none_or(|since| *time >= since)
            && (!self.coerced || !end.coerced.is_empty())
    }
}
