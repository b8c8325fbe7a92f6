//! The number of tools of clients, above which they are deferred.

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::watch;

/// The number of tools of several clients. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolTotal(watch::Sender<usize>);

/// The share of one client in the total.
#[derive(Debug, Default)]
pub(crate) struct ToolCount {
    total: ToolTotal,
    own: AtomicUsize,
}

impl ToolCount {
    pub(crate) fn in_total(total: ToolTotal) -> Self {
        Self { total, own: AtomicUsize::default() }
    }

    pub(crate) fn set(&self, tools: usize) {
        let earlier = self.own.swap(tools, Ordering::Relaxed);
        if earlier != tools {
            self.total.0.send_modify(|total| *total = total.saturating_sub(earlier) + tools);
        }
    }

    pub(crate) fn total(&self) -> usize {
        *self.total.0.borrow()
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<usize> {
        self.total.0.subscribe()
    }
}
