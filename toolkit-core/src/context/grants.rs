//! Approvals that hold for a whole session.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The approvals given for a session, as pairs of a tool name and the reason of the request. Clones share the
/// approvals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grants(Arc<Mutex<BTreeSet<(String, String)>>>);

impl Grants {
    /// Stores an approval of `tool` for `reason`, so that later calls need no new approval.
    pub(crate) fn add(&self, tool: &str, reason: &str) {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        grants.insert((tool.to_owned(), reason.to_owned()));
    }

    /// Returns whether calls of `tool` were approved for `reason`.
    pub(crate) fn has(&self, tool: &str, reason: &str) -> bool {
        let grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        grants.contains(&(tool.to_owned(), reason.to_owned()))
    }
}
