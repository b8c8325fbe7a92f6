//! How the calls of a log went.

use super::{CallStatus, LogEntry};
use crate::error::ErrorKind;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// How the calls of a log went, all together and by tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct LogStatistics {
    /// All calls.
    pub all: ToolStatistics,
    /// Those of each tool.
    pub by_tool: BTreeMap<String, ToolStatistics>,
}

/// How calls went. Those whose tool did not run have no part in the durations. Written as JSON, durations are
/// in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct ToolStatistics {
    /// How many calls there are.
    pub calls: usize,
    /// How many of them ended how; what did not happen is not there.
    pub statuses: BTreeMap<CallStatus, usize>,
    /// How many of them failed how; what did not happen is not there.
    pub errors: BTreeMap<ErrorKind, usize>,
    /// How many of them were tried more than once.
    pub retried: usize,
    /// How long the fastest took.
    #[serde(rename = "shortest_ms", serialize_with = "as_milliseconds")]
    pub shortest: Duration,
    /// How long the one in the middle took, of two the slower.
    #[serde(rename = "median_ms", serialize_with = "as_milliseconds")]
    pub median: Duration,
    /// How long the slowest took.
    #[serde(rename = "longest_ms", serialize_with = "as_milliseconds")]
    pub longest: Duration,
    /// How long all took together.
    #[serde(rename = "total_ms", serialize_with = "as_milliseconds")]
    pub total: Duration,
}

impl LogStatistics {
    pub(super) fn of<'a>(entries: impl Iterator<Item = &'a LogEntry>) -> Self {
        let mut all = Collected::default();
        let mut by_tool = BTreeMap::<&str, Collected>::new();
        for entry in entries {
            all.add(entry);
            by_tool.entry(&entry.call.tool).or_default().add(entry);
        }
        let by_tool = by_tool.into_iter().map(|(tool, collected)| (tool.to_owned(), collected.finish()));
        Self { all: all.finish(), by_tool: by_tool.collect() }
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

fn as_milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64() * 1_000.0)
}

/// As in the name of its event, without the `tool.`.
impl Serialize for CallStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.event_name().trim_start_matches("tool."))
    }
}
