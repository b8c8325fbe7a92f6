//! The deadline of a call.

use super::ToolContext;
use crate::guard::lock;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::time;

/// A started time limit: its length and its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) length: Duration,
    pub(crate) end: time::Instant,
}

impl Limit {
    /// Starts a time limit now; `None` if its end is beyond the range of the clock.
    pub(crate) fn from_now(length: Duration) -> Option<Self> {
        Some(Self { length, end: time::Instant::now().checked_add(length)? })
    }
}

#[derive(Debug, Default)]
pub(super) struct Deadline(Mutex<Option<Limit>>);

impl Clone for Deadline {
    fn clone(&self) -> Self {
        Self(Mutex::new(*lock(&self.0)))
    }
}

impl ToolContext {
    /// Begins an attempt. Discards the session changes and actions of earlier attempts.
    #[inline]
    pub(crate) fn begin(&self) {
        self.draft.begin();
    }

    #[inline]
    pub(crate) fn limit_to(&self, limit: Limit) {
        *lock(&self.deadline.0) = Some(limit);
    }

    pub(crate) fn limit(&self) -> Option<Limit> {
        *lock(&self.deadline.0)
    }

    /// Returns the deadline of the call, if any.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.limit().map(|limit| limit.end.into_std())
    }

    /// Returns the time until the deadline, at least zero; `None` without a time limit.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let Limit { end, .. } = self.limit()?;
        Some(end.saturating_duration_since(time::Instant::now()))
    }
}
