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
    /// Starts a time limit now. Returns `None` if the end would be beyond the range of the clock.
    pub(crate) fn from_now(length: Duration) -> Option<Self> {
        Some(Self { length, end: time::Instant::now().checked_add(length)? })
    }
}

/// The time limit of a call, set when the call starts.
#[derive(Debug, Default)]
pub(super) struct Deadline(Mutex<Option<Limit>>);

impl Clone for Deadline {
    fn clone(&self) -> Self {
        Self(Mutex::new(*lock(&self.0)))
    }
}

impl ToolContext {
    /// Begins an attempt of the call. Discards the session changes and actions written by earlier attempts.
    #[inline]
    pub(crate) fn begin(&self) {
        self.draft.begin();
    }

    /// Sets the time limit of the current attempt.
    #[inline]
    pub(crate) fn limit_to(&self, limit: Limit) {
        *lock(&self.deadline.0) = Some(limit);
    }

    /// Returns the time limit of the current attempt.
    pub(crate) fn limit(&self) -> Option<Limit> {
        *lock(&self.deadline.0)
    }

    /// Returns the deadline of the call, if it has a time limit.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.limit().map(|limit| limit.end.into_std())
    }

    /// Returns the time until the deadline, or zero after the deadline. Returns `None` if the call has no
    /// time limit.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let Limit { end, .. } = self.limit()?;
        Some(end.saturating_duration_since(time::Instant::now()))
    }
}
