//! The deadline of a call.

use super::ToolContext;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::time;

/// The deadline of a call; set at its start, if it has a time limit.
#[derive(Debug, Default)]
pub(super) struct Deadline(OnceLock<Box<Mutex<time::Instant>>>);

impl Deadline {
    fn get(&self) -> Option<time::Instant> {
        let set = self.0.get()?;
        Some(*set.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clone for Deadline {
    fn clone(&self) -> Self {
        Self(self.get().map_or_else(OnceLock::new, |end| OnceLock::from(Box::new(Mutex::new(end)))))
    }
}

impl ToolContext {
    /// Begins an attempt of the call and discards the writes of earlier ones.
    #[inline]
    pub(crate) fn begin(&self) {
        self.draft.begin();
    }

    /// Sets the deadline of the current attempt.
    #[inline]
    pub(crate) fn limit_to(&self, deadline: Option<time::Instant>) {
        if let Some(end) = deadline {
            let set = self.deadline.0.get_or_init(|| Box::new(Mutex::new(end)));
            *set.lock().unwrap_or_else(PoisonError::into_inner) = end;
        }
    }

    /// Returns the deadline of the call, if it has a time limit.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.get().map(time::Instant::into_std)
    }

    /// Returns the time left until the deadline; zero after it.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let deadline = self.deadline.get()?;
        Some(deadline.saturating_duration_since(time::Instant::now()))
    }
}
