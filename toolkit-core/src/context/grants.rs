//! Approvals that hold for a whole session.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The approvals given for a session: tools, each with the reason of the request. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grants(Arc<Mutex<BTreeSet<(String, String)>>>);

impl Grants {
    /// Remembers an approval.
    pub(crate) fn add(&self, tool: &str, reason: &str) {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        grants.insert((tool.to_owned(), reason.to_owned()));
    }

    /// Returns whether calls of the tool were approved for this reason.
    pub(crate) fn has(&self, tool: &str, reason: &str) -> bool {
        let grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        grants.contains(&(tool.to_owned(), reason.to_owned()))
    }
}
