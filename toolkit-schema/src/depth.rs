//! Depth: the one limit of everything that functions of this crate descend into.

use serde_json::Value;

/// The maximum depth: of JSON in levels, and of schemas that apply to one value in a row. JSON parsers have the same
/// limit.
pub const MAX_DEPTH: usize = 127;

/// The maximum number of schemas that are applied one inside of the other: three for each level of a value, so that a
/// value of the maximum depth may have a union and a reference at every level.
pub(crate) const MAX_NESTED: usize = 3 * MAX_DEPTH;

/// Returns whether a JSON value is nested deeper than `levels`, without recursion.
#[must_use]
pub fn nests_deeper(value: &Value, levels: usize) -> bool {
    let mut level = vec![value];
    for _ in 0..levels {
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::Array(items) => next.extend(items.iter().filter(|item| holds_values(item))),
                Value::Object(members) => next.extend(members.values().filter(|member| holds_values(member))),
                _ => {}
            }
        }
        if next.is_empty() {
            return false;
        }
        level = next;
    }
    true
}

fn holds_values(value: &Value) -> bool {
    value.is_array() || value.is_object()
}
