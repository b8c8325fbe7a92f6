//! Limits the nesting depth of saved values, so that every saved value can be read again.

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The maximum nesting depth of a saved value. JSON readers stop at 128 levels, with those around the
/// value.
const MAX_DEPTH: usize = 100;

/// Serializes `whole`, unless one of its `values` is nested too deep for JSON readers.
///
/// # Errors
/// One of the `values` is nested too deep, or the serializer fails.
pub(crate) fn serialize_within_depth<'a, S: Serializer>(
    whole: &impl Serialize,
    values: impl IntoIterator<Item = &'a Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut level: Vec<&Value> = values.into_iter().collect();
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::Array(items) => next.extend(items),
                Value::Object(members) => next.extend(members.values()),
                _ => {}
            }
        }
        level = next;
    }
    if !level.is_empty() {
        return Err(S::Error::custom(format_args!("a value is nested deeper than {MAX_DEPTH} levels")));
    }
    whole.serialize(serializer)
}
