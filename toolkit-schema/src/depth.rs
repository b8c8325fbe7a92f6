//! Depth: the one limit of descent in this crate.

use serde_json::Value;

/// The maximum levels of JSON, and schemas in a row for one value. JSON parsers have the same limit.
pub const MAX_DEPTH: usize = 127;

/// The maximum nesting of applied schemas: three for each level, for a union and a reference.
pub(crate) const MAX_NESTED: usize = 3 * MAX_DEPTH;

/// Returns whether JSON is nested deeper than `levels`, without recursion.
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
