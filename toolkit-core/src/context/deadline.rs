//! The deadline of a call.

use super::ToolContext;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::time;

/// A running time limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) length: Duration,
    pub(crate) end: time::Instant,
}

impl Limit {
    /// Starts a limit now; `None` if the clock does not reach its end.
    pub(crate) fn from_now(length: Duration) -> Option<Self> {
        Some(Self { length, end: time::Instant::now().checked_add(length)? })
    }
}

/// The time limit of a call; set at its start, if it has one.
#[derive(Debug, Default)]
pub(super) struct Deadline(OnceLock<Box<Mutex<Limit>>>);

impl Deadline {
    fn get(&self) -> Option<Limit> {
        let set = self.0.get()?;
        Some(*set.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clone for Deadline {
    fn clone(&self) -> Self {
        Self(self.get().map_or_else(OnceLock::new, |limit| OnceLock::from(Box::new(Mutex::new(limit)))))
    }
}

impl ToolContext {
    /// Begins an attempt of the call and discards the writes of earlier ones.
    #[inline]
    pub(crate) fn begin(&self) {
        self.draft.begin();
    }

    /// Sets the time limit of the current attempt.
    #[inline]
    pub(crate) fn limit_to(&self, limit: Limit) {
        let set = self.deadline.0.get_or_init(|| Box::new(Mutex::new(limit)));
        *set.lock().unwrap_or_else(PoisonError::into_inner) = limit;
    }

    /// Returns the time limit of the current attempt.
    pub(crate) fn limit(&self) -> Option<Limit> {
        self.deadline.get()
    }

    /// Returns the deadline of the call, if it has a time limit.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.get().map(|limit| limit.end.into_std())
    }

    /// Returns the time left until the deadline; zero after it.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let Limit { end, .. } = self.deadline.get()?;
        Some(end.saturating_duration_since(time::Instant::now()))
    }
}
