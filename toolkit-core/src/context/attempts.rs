//! Counts of consecutive failed attempts, per tool.

use crate::guard::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

/// Counts of consecutive failed attempts, per tool. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attempts(Arc<Mutex<HashMap<Box<str>, Failed>>>);

#[derive(Debug, Default)]
struct Failed {
    times: u32,
    /// The running batches with a counted failure.
    batches: Vec<Weak<u64>>,
}

impl Attempts {
    /// Counts a failed attempt of `tool` and returns the new count. A batch counts once.
    pub(crate) fn failed(&self, tool: &str, batch: &Arc<u64>) -> u32 {
        let mut tools = lock(&self.0);
        let failed = tools.entry(tool.into()).or_default();
        let batch = Arc::downgrade(batch);
        failed.batches.retain(|counted| counted.strong_count() > 0);
        if !failed.batches.iter().any(|counted| counted.ptr_eq(&batch)) {
            failed.times = failed.times.saturating_add(1);
            failed.batches.push(batch);
        }
        failed.times
    }

    pub(crate) fn succeeded(&self, tool: &str) {
        lock(&self.0).remove(tool);
    }
}
