//! Generates ids for calls without one.

use serde_json::{Value, json};
use std::collections::HashSet;
use toolkit_core::call::CallId;
use toolkit_core::name::fnv1a;

/// Returns one id for each call: the provider's id, or a generated unique id. The same calls always get the
/// same ids, and the calls of another turn get other ids.
pub(super) fn complete<'a>(calls: impl IntoIterator<Item = (&'a Value, Option<&'a str>)>) -> Vec<CallId> {
    let (calls, given): (Vec<&Value>, Vec<Option<&str>>) = calls.into_iter().unzip();
    if given.iter().all(Option::is_some) {
        return given.into_iter().flatten().map(CallId::from).collect();
    }
    let mut ids = CallIds::new(&json!(calls));
    ids.taken.extend(given.iter().flatten().map(|id| (*id).to_owned()));
    given.into_iter().map(|id| id.map_or_else(|| ids.generate(), CallId::from)).collect()
}

/// Returns whether this module generated the id. Such an id is not sent to APIs in which ids are optional.
pub(super) fn is_generated(id: &str) -> bool {
    let Some((digest, number)) = id.strip_prefix("call_").and_then(|rest| rest.split_once('_')) else {
        return false;
    };
    let is_digest = digest.len() == 8 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    is_digest && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// The ids of the calls in one response. Generated ids begin with a digest of a seed, so the ids of two turns
/// differ.
#[derive(Debug)]
pub(super) struct CallIds {
    digest: u32,
    number: usize,
    taken: HashSet<String>,
}

impl CallIds {
    pub(super) fn new(seed: &Value) -> Self {
        Self { digest: fnv1a(&seed.to_string(), 0) as u32, number: 0, taken: HashSet::new() }
    }

    /// Returns the id for the next call: the provider's id `given`, or a generated id that no earlier call
    /// has.
    pub(super) fn settle(&mut self, given: Option<&str>) -> CallId {
        match given {
            Some(id) => {
                self.taken.insert(id.to_owned());
                CallId::from(id)
            }
            None => self.generate(),
        }
    }

    fn generate(&mut self) -> CallId {
        loop {
            let id = format!("call_{:08x}_{}", self.digest, self.number);
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
