//! What a worker counts.

use std::time::Duration;

/// The counts of a worker since its start. The service API publishes them, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WorkerStatistics {
    /// The calls that run now (`messaging.process.active`).
    pub in_flight: usize,
    /// The calls that have ended.
    pub ended: u64,
    /// The ended calls whose result is an error.
    pub failed: u64,
    /// The calls that were refused because the worker was full.
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
