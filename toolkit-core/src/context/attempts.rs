//! Counts of consecutive failed attempts, per tool.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Counts of consecutive failed attempts, per tool. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attempts(Arc<Mutex<HashMap<Box<str>, Failed>>>);

#[derive(Debug)]
struct Failed {
    times: u32,
    /// The token of the batch with the last counted failure.
    batch: Weak<u64>,
}

impl Attempts {
    /// Counts a failed attempt of `tool` and returns the new count. Several failures in one batch count as
    /// one.
    pub(crate) fn failed(&self, tool: &str, batch: &Arc<u64>) -> u32 {
        let mut tools = self.lock();
        let batch = Arc::downgrade(batch);
        match tools.get_mut(tool) {
            Some(failed) if Weak::ptr_eq(&failed.batch, &batch) => failed.times,
            Some(failed) => {
                *failed = Failed { times: failed.times.saturating_add(1), batch };
                failed.times
            }
            None => {
                tools.insert(tool.into(), Failed { times: 1, batch });
                1
            }
        }
    }

    /// Resets the count of failed attempts of `tool` to zero.
    pub(crate) fn succeeded(&self, tool: &str) {
        self.lock().remove(tool);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Failed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
