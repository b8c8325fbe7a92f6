//! The ids under which the calls of a turn run.

use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use toolkit_core::CallId;

/// The ids of a turn's calls for tools, approvals and limits: the provider's ids, made distinct, because
/// some providers repeat one in a message. The conversation keeps the originals, and tells calls apart by
/// index.
#[derive(Debug, Default)]
pub(crate) struct CallIds {
    /// The first call's id, because most turns have one call.
    first: Option<CallId>,
    others: HashMap<CallId, usize, RandomState>,
}

impl CallIds {
    /// Adds the next call and returns its id: the provider's `given`, followed by `#` and the index of the
    /// call if an earlier call has it.
    pub(crate) fn add(&mut self, given: CallId) -> CallId {
        let Some(first) = &self.first else {
            self.first = Some(given.clone());
            return given;
        };
        let position = 1 + self.others.len();
        let mut id = given;
        loop {
            if id != *first
                && let Entry::Vacant(entry) = self.others.entry(id.clone())
            {
                entry.insert(position);
                return id;
            }
            id = format!("{id}#{position}").into();
        }
    }

    pub(crate) fn position(&self, id: &CallId) -> Option<usize> {
        if self.first.as_ref() == Some(id) { Some(0) } else { self.others.get(id).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Also if the provider's id looks like one of ours.
        #[test]
        fn each_call_of_a_turn_has_an_id_of_its_own(given in prop::collection::vec("[ab]?(#[0-3]){0,2}", 0..8)) {
            let mut ids = CallIds::default();
            let mut again = CallIds::default();
            let own: Vec<CallId> = given.iter().map(|id| ids.add(id.as_str().into())).collect();
            for (position, id) in own.iter().enumerate() {
                prop_assert_eq!(ids.position(id), Some(position), "{:?}", own);
                prop_assert_eq!(&again.add(given[position].as_str().into()), id);
                let is_first = own[..position].iter().all(|earlier| *earlier != given[position].as_str());
                prop_assert_eq!(*id == given[position].as_str(), is_first, "{:?}", own);
            }
        }
    }
}
