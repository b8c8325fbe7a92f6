//! What a worker counts.

use std::time::Duration;

/// Counts what a worker has done since its start, as the service API publishes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WorkerStatistics {
    /// The calls that run now (`messaging.process.active`).
    pub in_flight: usize,
    /// The calls that have ended.
    pub ended: u64,
    /// The ended calls with an error.
    pub failed: u64,
    /// The calls refused because the worker was full.
    pub refused: u64,
    /// The time of all ended calls together (`messaging.process.duration`).
    pub duration: Duration,
}

impl WorkerStatistics {
    pub(super) fn end(&mut self, duration: Duration, has_failed: bool) {
        self.ended += 1;
        self.failed += u64::from(has_failed);
        self.duration += duration;
    }
}
