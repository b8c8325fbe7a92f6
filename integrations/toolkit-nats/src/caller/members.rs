//! The workers that a caller knows, and the definitions that they serve.

use crate::definitions::Listing;
use crate::frames::Announcement;
use crate::subjects::NamespaceVersion;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The rounds without a sign of life after which a worker has gone. Workers announce themselves each second.
const EXPIRY: u64 = 8;

pub(super) struct Member {
    pub(super) versions: Vec<NamespaceVersion>,
    pub(super) worker: Arc<RemoteWorker>,
}

#[derive(Debug)]
pub(super) struct RemoteWorker {
    pub(super) id: Arc<str>,
    /// Whether a ledger lets a call be sent again.
    pub(super) has_ledger: bool,
    /// Whether the worker has announced that it is full, or has refused or lost a call since.
    is_busy: AtomicBool,
    /// The round of the latest sign of life: an announcement, or a frame of any call.
    heard: AtomicU64,
}

impl RemoteWorker {
    pub(super) fn new(id: Arc<str>, has_ledger: bool, round: u64) -> Self {
        Self { id, has_ledger, is_busy: AtomicBool::new(false), heard: AtomicU64::new(round) }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.is_busy.load(Ordering::Relaxed)
    }

    pub(super) fn set_busy(&self, is_busy: bool) {
        self.is_busy.store(is_busy, Ordering::Relaxed);
    }

    pub(super) fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    pub(super) fn hear(&self, round: u64) {
        self.heard.store(round, Ordering::Relaxed);
    }
}

#[derive(Default)]
pub(super) struct Members {
    pub(super) workers: HashMap<Arc<str>, Member>,
    /// The workers that have not yet answered whether calls reach them.
    pub(super) newcomers: HashSet<String>,
    /// The definitions of each version. `None` while they are fetched.
    pub(super) listings: HashMap<NamespaceVersion, Option<Arc<Listing>>>,
    withdrawn: HashSet<String>,
}

impl Members {
    /// Takes an announcement into account. Returns whether the tools may change, and the versions to fetch.
    pub(super) fn hear(&mut self, announcement: Announcement, round: u64) -> (bool, Vec<NamespaceVersion>) {
        let Announcement { worker, versions, has_ledger, is_full, is_leaving } = announcement;
        if is_leaving {
            return (self.workers.remove(&*worker).is_some(), Vec::new());
        }
        let missing: Vec<_> =
            versions.iter().filter(|version| !self.listings.contains_key(version)).cloned().collect();
        self.listings.extend(missing.iter().map(|version| (version.clone(), None)));
        let id: Arc<str> = worker.into();
        let new = || RemoteWorker::new(id.clone(), has_ledger, round);
        let known = self.workers.get(&id);
        let is_changed = known.is_none_or(|known| known.versions != versions);
        for old in known.iter().flat_map(|known| &known.versions).filter(|old| !versions.contains(old)) {
            let listing = self.listings.get(old).and_then(Option::as_ref);
            let tools = listing.iter().flat_map(|listing| &listing.tools);
            self.withdrawn.extend(tools.map(|tool| tool.definition.name.to_string()));
        }
        let worker = known.map_or_else(|| Arc::new(new()), |known| known.worker.clone());
        worker.set_busy(is_full);
        worker.hear(round);
        self.workers.insert(id, Member { versions, worker });
        (is_changed, missing)
    }

    /// Returns whether no worker is asked and no definitions are fetched.
    pub(super) fn are_settled(&self) -> bool {
        self.newcomers.is_empty() && self.listings.values().all(Option::is_some)
    }

    /// Stores fetched definitions. After a failure, the next announcement of the version tries again.
    pub(super) fn store(&mut self, version: &NamespaceVersion, listing: Option<Listing>) {
        match listing {
            Some(listing) => drop(self.listings.insert(version.clone(), Some(Arc::new(listing)))),
            None => drop(self.listings.remove(version)),
        }
    }

    pub(super) fn expire(&mut self, round: u64) -> Vec<Arc<str>> {
        let mut lost = Vec::new();
        for (id, member) in &self.workers {
            if round.saturating_sub(member.worker.heard()) >= EXPIRY {
                lost.push(id.clone());
            }
        }
        for id in &lost {
            self.workers.remove(id);
        }
        lost
    }

    pub(super) fn take_withdrawn(&mut self) -> HashSet<String> {
        std::mem::take(&mut self.withdrawn)
    }

    pub(super) fn forget_unused(&mut self) {
        let used: HashSet<&NamespaceVersion> =
            self.workers.values().flat_map(|member| &member.versions).collect();
        self.listings.retain(|version, listing| listing.is_none() || used.contains(version));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_come_and_go_and_their_definitions_are_fetched_once() {
        let version = NamespaceVersion { namespace: None, hash: "1".to_owned() };
        let announcement = |worker: &str, is_leaving| Announcement {
            worker: worker.to_owned(),
            versions: vec![version.clone()],
            has_ledger: false,
            is_full: false,
            is_leaving,
        };
        let mut members = Members::default();
        assert_eq!(members.hear(announcement("a", false), 0), (true, vec![version.clone()]));
        assert_eq!(members.hear(announcement("b", false), 0), (true, vec![]));
        assert_eq!(members.hear(announcement("a", false), 0), (false, vec![]));
        members.store(&version, None);
        assert_eq!(members.hear(announcement("a", false), 0).1, std::slice::from_ref(&version));
        members.store(&version, Some(Listing::default()));
        assert!(members.hear(announcement("a", true), 0).0);
        members.forget_unused();
        assert_eq!((members.workers.len(), members.listings.len()), (1, 1));
        members.hear(announcement("b", true), 0);
        members.forget_unused();
        assert!(members.listings.is_empty());
    }

    #[test]
    fn each_frame_and_each_announcement_of_a_worker_is_a_sign_of_life() {
        let announcement = |worker: &str| Announcement {
            worker: worker.to_owned(),
            versions: vec![],
            has_ledger: false,
            is_full: false,
            is_leaving: false,
        };
        let mut members = Members::default();
        for worker in ["silent", "announced", "answers"] {
            members.hear(announcement(worker), 10);
        }
        members.hear(announcement("announced"), 11);
        members.workers["answers"].worker.hear(11);
        assert_eq!(members.expire(9 + EXPIRY), []);
        assert_eq!(members.expire(10 + EXPIRY), ["silent".into()]);
        assert_eq!(members.expire(11 + EXPIRY).len(), 2);
    }
}
