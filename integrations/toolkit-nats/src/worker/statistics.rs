//! What a worker counts.

use std::sync::atomic::{AtomicU64, Ordering};
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
    pub refused_full: u64,
    /// The calls that were refused for another reason.
    pub refused_otherwise: u64,
    /// The time of all ended calls together (`messaging.process.duration`).
    pub duration: Duration,
}

/// The counters behind the statistics.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) ended: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) refused_full: AtomicU64,
    pub(super) refused_otherwise: AtomicU64,
    microseconds: AtomicU64,
}

impl Counters {
    pub(super) fn end(&self, duration: Duration, has_failed: bool) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(has_failed), Ordering::Relaxed);
        let microseconds = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }

    pub(super) fn read(&self, in_flight: usize) -> WorkerStatistics {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        WorkerStatistics {
            in_flight,
            ended: load(&self.ended),
            failed: load(&self.failed),
            refused_full: load(&self.refused_full),
            refused_otherwise: load(&self.refused_otherwise),
            duration: Duration::from_micros(load(&self.microseconds)),
        }
    }
}
