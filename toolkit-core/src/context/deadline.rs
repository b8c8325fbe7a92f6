//! When a call has to be done.

use super::ToolContext;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time;

/// When a call has to be done; set when it starts.
#[derive(Debug, Default)]
pub(super) struct Deadline(Mutex<Option<time::Instant>>);

impl Deadline {
    fn get(&self) -> Option<time::Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Deadline {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.get()))
    }
}

impl ToolContext {
    /// Begins an attempt of the call, which has to be done by then. What an earlier one has written is void.
    #[inline]
    pub(crate) fn begin(&self, deadline: Option<time::Instant>) {
        self.draft.begin();
        if deadline.is_some() {
            *self.deadline.0.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
        }
    }

    /// When the call is stopped, if it has a time limit.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.get().map(time::Instant::into_std)
    }

    /// How much time is left until then; zero afterwards.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let deadline = self.deadline.get()?;
        Some(deadline.saturating_duration_since(time::Instant::now()))
    }
}
