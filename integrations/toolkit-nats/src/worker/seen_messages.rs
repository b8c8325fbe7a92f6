//! The messages of calls that a worker has seen.

use std::collections::hash_map::RandomState;
use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasher as _;

/// The number of the latest messages that are known again.
const KNOWN: usize = 65_536;

/// The reply subjects of the latest calls, as hashes. Each message of a call has a subject of its own, so a message whose
/// subject is known is a copy.
pub(super) struct SeenMessages {
    hasher: RandomState,
    hashes: HashSet<u64>,
    /// The same hashes in the order of their messages.
    order: VecDeque<u64>,
}

impl SeenMessages {
    pub(super) fn new() -> Self {
        Self { hasher: RandomState::new(), hashes: HashSet::new(), order: VecDeque::new() }
    }

    /// Notes a message. Returns whether it is the first one with its reply subject.
    pub(super) fn is_first(&mut self, reply: &str) -> bool {
        let hash = self.hasher.hash_one(reply);
        if !self.hashes.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > KNOWN
            && let Some(oldest) = self.order.pop_front()
        {
            self.hashes.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_known_among_the_latest_messages() {
        let mut seen = SeenMessages::new();
        for number in 0..2 * KNOWN {
            assert!(seen.is_first(&format!("inbox.{number}")));
            assert!(!seen.is_first(&format!("inbox.{}", number.saturating_sub(KNOWN - 1))));
        }
        assert_eq!((seen.hashes.len(), seen.order.len()), (KNOWN, KNOWN));
        assert!(seen.is_first("inbox.0"));
    }
}
