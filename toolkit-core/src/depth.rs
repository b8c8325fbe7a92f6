//! The depth of saved values: what is written can always be read again.

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The deepest value that is saved. Readers of JSON stop at 128 levels, those around the value included.
const DEEPEST: usize = 100;

/// Serializes a value that consists of `values`, if every reader can read them again.
///
/// # Errors
/// A value is nested too deep; or those of the serializer.
pub(crate) fn readable<'a, S: Serializer>(
    value: &impl Serialize,
    values: impl IntoIterator<Item = &'a Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut level: Vec<&Value> = values.into_iter().collect();
    for _ in 0..DEEPEST {
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
        return Err(S::Error::custom(format_args!("a value is nested deeper than {DEEPEST} levels")));
    }
    value.serialize(serializer)
}
