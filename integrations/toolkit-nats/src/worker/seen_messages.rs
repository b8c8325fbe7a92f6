//! The messages of calls that a worker has seen.

use std::collections::hash_map::RandomState;
use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasher as _;

const KNOWN: usize = 65_536;

/// The reply subjects of the latest calls, as hashes. A message with a known one is a copy.
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

    /// Notes a message. Returns whether its reply subject is new.
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
