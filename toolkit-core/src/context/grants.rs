//! Approvals that hold for a whole session.

use crate::guard::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, Weak};

/// The name of a tool, and the reason for requesting approval.
type GrantKey = (String, String);

/// The lock that a call holds while it requests an approval. Another call that needs the same approval waits for it.
pub(crate) type ApprovalTurn = Arc<tokio::sync::Mutex<()>>;

/// The approvals given for a session, as pairs of a tool name and the reason of the request. Clones share the
/// approvals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grants(Arc<Mutex<GrantTable>>);

#[derive(Debug, Default)]
struct GrantTable {
    granted: BTreeSet<GrantKey>,
    /// The locks for approvals being requested. Calls without an agent run share a lock only within their batch.
    turns: BTreeMap<(GrantKey, Option<u64>), Weak<tokio::sync::Mutex<()>>>,
}

impl Grants {
    /// Stores an approval of `tool` for `reason`, so that later calls need no new approval.
    pub(crate) fn add(&self, tool: &str, reason: &str) {
        lock(&self.0).granted.insert((tool.to_owned(), reason.to_owned()));
    }

    /// Returns whether calls of `tool` were approved for the session with this `reason`.
    pub(crate) fn has(&self, tool: &str, reason: &str) -> bool {
        lock(&self.0).granted.contains(&(tool.to_owned(), reason.to_owned()))
    }

    /// Returns the lock for requesting an approval. All calls that need the same approval share the lock. If
    /// there is a `batch`, only calls of this batch share it.
    pub(crate) fn turn(&self, tool: &str, reason: &str, batch: Option<u64>) -> ApprovalTurn {
        let mut inner = lock(&self.0);
        let key = ((tool.to_owned(), reason.to_owned()), batch);
        if let Some(turn) = inner.turns.get(&key).and_then(Weak::upgrade) {
            return turn;
        }
        inner.turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = ApprovalTurn::default();
        inner.turns.insert(key, Arc::downgrade(&turn));
        turn
    }
}
