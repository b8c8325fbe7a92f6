//! Ids for calls that came without one.

use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashSet;
use toolkit_core::call::CallId;
use toolkit_core::name::fnv1a;

/// The id of every call: the provider's own, and where it gave none a generated one that no other
/// call beside it has. The same calls always get the same ids, and those of the next turn others.
pub(super) fn complete<'a>(
    calls: impl IntoIterator<Item = (&'a Value, Option<Cow<'a, str>>)>,
) -> Vec<CallId> {
    let (calls, given): (Vec<&Value>, Vec<Option<Cow<'a, str>>>) = calls.into_iter().unzip();
    let taken: HashSet<&str> = given.iter().flatten().map(|id| &**id).collect();
    let mut generated = None;
    given
        .iter()
        .map(|id| match id {
            Some(id) => CallId::from(&**id),
            None => generated.get_or_insert_with(|| Generated::new(&json!(calls))).next(&taken),
        })
        .collect()
}

/// Whether an id is one of those that are generated here: APIs that work without ids do not get them.
pub(super) fn is_generated(id: &str) -> bool {
    let Some((digest, number)) = id.strip_prefix("call_").and_then(|rest| rest.split_once('_')) else {
        return false;
    };
    let is_digest = digest.len() == 8 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    is_digest && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// Generated ids. They begin with a digest of what they are for, so that those of two turns differ.
#[derive(Debug)]
pub(super) struct Generated {
    digest: u32,
    number: usize,
}

impl Generated {
    /// Ids for what is in `seed`, or for the stream that begins with it.
    pub(super) fn new(seed: &Value) -> Self {
        Self { digest: fnv1a(&seed.to_string(), 0) as u32, number: 0 }
    }

    /// The next id that is not taken.
    pub(super) fn next(&mut self, taken: &HashSet<&str>) -> CallId {
        self.next_free(|id| taken.contains(id))
    }

    /// The next id that is not taken, for those who keep their ids elsewhere than in a set of texts.
    pub(super) fn next_free(&mut self, is_taken: impl Fn(&str) -> bool) -> CallId {
        loop {
            let id = format!("call_{:08x}_{}", self.digest, self.number);
            self.number += 1;
            if !is_taken(&id) {
                return CallId::from(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_ids_are_known_by_their_form() {
        let ids = complete([(&json!({"name": "add"}), None), (&json!(null), Some("call_1".into()))]);
        assert!(is_generated(ids[0].as_str()));
        for foreign in ["call_1", "", "call_0cd813c7", "call_0cd813c7_", "call_0CD813C7_0", "call_0cd813c7_x"]
        {
            assert!(!is_generated(foreign), "{foreign}");
        }
    }
}
