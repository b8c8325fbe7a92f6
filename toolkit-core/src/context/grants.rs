//! Approvals that hold for a whole session.

use crate::guard::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, Weak};

/// The name of a tool, and the reason of the approval request.
type GrantKey = (String, String);

/// The lock held while a call requests an approval. Another call that needs the same approval waits.
pub(crate) type ApprovalTurn = Arc<tokio::sync::Mutex<()>>;

/// The approvals given for a session, by tool name and reason. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grants(Arc<Mutex<GrantTable>>);

#[derive(Debug, Default)]
struct GrantTable {
    granted: BTreeSet<GrantKey>,
    /// The locks of running requests. Without an agent run, a lock belongs to one batch.
    turns: BTreeMap<(GrantKey, Option<u64>), Weak<tokio::sync::Mutex<()>>>,
}

impl Grants {
    pub(crate) fn add(&self, tool: &str, reason: &str) {
        lock(&self.0).granted.insert((tool.to_owned(), reason.to_owned()));
    }

    pub(crate) fn has(&self, tool: &str, reason: &str) -> bool {
        lock(&self.0).granted.contains(&(tool.to_owned(), reason.to_owned()))
    }

    /// Returns the lock shared by all calls that need this approval, or by those of `batch`.
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
