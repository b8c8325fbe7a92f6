//! Calls that repeat others.

use super::WireCall;
use serde_json::Value;
use std::collections::HashMap;
use toolkit_schema::__private::extract_object;

#[derive(Debug, Default, Clone)]
pub(crate) struct KnownCalls(HashMap<(String, String), Vec<String>>);

impl KnownCalls {
    /// Adds a call, and returns whether it is new: no earlier call has the same id, name and arguments.
    ///
    /// A call without arguments repeats any with its id and name; a call without an id is always new.
    pub(crate) fn add(&mut self, call: &WireCall<'_>) -> bool {
        self.add_unless(call, is_same_object)
    }

    /// Adds a call of a stream, which may break off and be sent again. The beginning of an earlier call's
    /// arguments is not new either.
    pub(crate) fn add_streamed(&mut self, call: &WireCall<'_>) -> bool {
        self.add_unless(call, |known, text| known.starts_with(text.trim()) || is_same_object(known, text))
    }

    fn add_unless(&mut self, call: &WireCall<'_>, repeats: fn(&str, &str) -> bool) -> bool {
        let Some(id) = call.id.as_deref() else { return true };
        let known = self.0.entry((id.to_owned(), call.name.to_owned())).or_default();
        let text = call.arguments().into_text();
        if known.iter().any(|known| repeats(known, &text)) || call.has_no_arguments() && !known.is_empty() {
            return false;
        }
        known.push(text.into_owned());
        true
    }
}

/// Returns whether two texts contain the same object, however it is written or wrapped.
pub(crate) fn is_same_object(one: &str, other: &str) -> bool {
    one.trim() == other.trim() || object_in(one).is_some_and(|object| object_in(other) == Some(object))
}

fn object_in(text: &str) -> Option<Value> {
    serde_json::from_str(&extract_object(text)?).ok()
}
