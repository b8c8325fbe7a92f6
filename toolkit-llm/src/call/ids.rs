//! Generates ids for calls that have none.

use serde_json::{Value, json};
use std::collections::HashSet;
use toolkit_core::call::CallId;
use toolkit_core::name::fnv1a;

/// Returns the id of each call, generated if the provider sent none. The same calls always get the same ids,
/// and other calls get others.
pub(crate) fn complete<'a>(calls: impl IntoIterator<Item = (&'a Value, Option<&'a str>)>) -> Vec<CallId> {
    let (calls, given): (Vec<&Value>, Vec<Option<&str>>) = calls.into_iter().unzip();
    if given.iter().all(Option::is_some) {
        return given.into_iter().flatten().map(CallId::from).collect();
    }
    let taken = given.iter().flatten().map(|id| (*id).to_owned()).collect();
    let mut ids = CallIds { taken, ..CallIds::default() };
    let mut complete = Vec::with_capacity(given.len());
    for id in given {
        complete.push(ids.settle(id, || json!(calls)));
    }
    complete
}

/// Returns whether this module generated the id. Such ids are not sent to APIs with optional ids.
pub(crate) fn is_generated(id: &str) -> bool {
    let Some(rest) = id.strip_prefix("call_") else { return false };
    let Some((digest, number)) = rest.split_once('_') else { return false };
    let is_digest = digest.len() == 8 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    is_digest && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// The ids of the calls in a response. Generated ids begin with a digest of a seed, so they differ between
/// turns.
#[derive(Debug, Default, Clone)]
pub(crate) struct CallIds {
    digest: Option<u32>,
    number: usize,
    taken: HashSet<String>,
}

impl CallIds {
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.taken.contains(id)
    }

    /// Returns the provider's id `given`, or a generated one that no earlier call has. `seed` is called for
    /// the first generated id only.
    pub(crate) fn settle(&mut self, given: Option<&str>, seed: impl FnOnce() -> Value) -> CallId {
        if let Some(id) = given {
            self.taken.insert(id.to_owned());
            return CallId::from(id);
        }
        let digest = *self.digest.get_or_insert_with(|| fnv1a(&seed().to_string(), 0) as u32);
        loop {
            let id = format!("call_{digest:08x}_{}", self.number);
            self.number += 1;
            if self.taken.insert(id.clone()) {
                return CallId::from(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_ids_are_recognised_by_their_form() {
        let ids = complete([(&json!({"name": "add"}), None), (&json!(null), Some("call_1"))]);
        assert!(is_generated(ids[0].as_str()));
        for foreign in ["call_1", "", "call_0cd813c7", "call_0cd813c7_", "call_0CD813C7_0", "call_0cd813c7_x"]
        {
            assert!(!is_generated(foreign), "{foreign}");
        }
    }
}
