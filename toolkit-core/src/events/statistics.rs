//! Statistics of a log.

use super::{CallStatus, LogEntry, milliseconds};
use crate::error::ErrorKind;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// Statistics of the calls in a log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct LogStatistics {
    /// Statistics of all calls.
    pub all: ToolStatistics,
    /// Statistics of each tool.
    pub by_tool: BTreeMap<String, ToolStatistics>,
}

/// Statistics of calls.
///
/// The running times include only calls that ran their tool, and are serialized in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct ToolStatistics {
    /// The number of calls.
    pub calls: usize,
    /// The number of calls for each status, if any.
    pub statuses: BTreeMap<CallStatus, usize>,
    /// The number of calls for each kind of error, if any.
    pub errors: BTreeMap<ErrorKind, usize>,
    /// The number of retried calls.
    pub retried: usize,
    /// The shortest running time.
    #[serde(rename = "shortest_ms", serialize_with = "milliseconds")]
    pub shortest: Duration,
    /// The median running time; of two middle times, the longer one.
    #[serde(rename = "median_ms", serialize_with = "milliseconds")]
    pub median: Duration,
    /// The longest running time.
    #[serde(rename = "longest_ms", serialize_with = "milliseconds")]
    pub longest: Duration,
    /// The sum of the running times.
    #[serde(rename = "total_ms", serialize_with = "milliseconds")]
    pub total: Duration,
}

impl LogStatistics {
    pub(super) fn of<'a>(entries: impl Iterator<Item = &'a LogEntry>) -> Self {
        let mut all = Collected::default();
        let mut of_tools = BTreeMap::<&str, Collected>::new();
        for entry in entries {
            all.add(entry);
            of_tools.entry(&entry.call.tool).or_default().add(entry);
        }
        let mut by_tool = BTreeMap::new();
        for (tool, collected) in of_tools {
            by_tool.insert(tool.to_owned(), collected.finish());
        }
        Self { all: all.finish(), by_tool }
    }
}

#[derive(Default)]
struct Collected {
    so_far: ToolStatistics,
    durations: Vec<Duration>,
}

impl Collected {
    fn add(&mut self, LogEntry { end, .. }: &LogEntry) {
        let so_far = &mut self.so_far;
        so_far.calls += 1;
        *so_far.statuses.entry(end.status).or_default() += 1;
        if let Some(error) = &end.error {
            *so_far.errors.entry(error.kind()).or_default() += 1;
        }
        so_far.retried += usize::from(end.attempts > 1);
        if end.attempts > 0 {
            self.durations.push(end.duration);
        }
    }

    fn finish(self) -> ToolStatistics {
        let Self { so_far, mut durations } = self;
        durations.sort_unstable();
        let at = |place: usize| durations.get(place).copied().unwrap_or_default();
        ToolStatistics {
            shortest: at(0),
            median: at(durations.len() / 2),
            longest: at(durations.len().saturating_sub(1)),
            total: durations.iter().sum(),
            ..so_far
        }
    }
}

/// Serializes the event's name without `tool.`, such as `timeout`.
impl Serialize for CallStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.event_name().trim_start_matches("tool."))
    }
}
