//! When a call has to be done.

use super::ToolContext;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::time;

/// When a call has to be done; set when it starts, if it has a limit.
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
    /// Begins an attempt of the call, which has to be done by then. What an earlier one has written is void.
    #[inline]
    pub(crate) fn begin(&self, deadline: Option<time::Instant>) {
        self.draft.begin();
        self.limit_to(deadline);
    }

    /// Sets until when the attempt has to be done that has begun.
    #[inline]
    pub(crate) fn limit_to(&self, deadline: Option<time::Instant>) {
        if let Some(end) = deadline {
            let set = self.deadline.0.get_or_init(|| Box::new(Mutex::new(end)));
            *set.lock().unwrap_or_else(PoisonError::into_inner) = end;
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
