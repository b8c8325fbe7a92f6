//! The internal keyword for `f32` numbers. A type may turn numbers outside the range of `f32` into infinity.

use crate::keyword::each_subschema;
use serde_json::Value;

/// The keyword that marks a number stored as `f32`.
///
/// Its value is `true` if deserialization turns numbers outside the range of `f32` into infinity.
pub(crate) const SINGLE: &str = "x-toolkit-single";

/// Marks the numbers with the format `float` in a generated schema, because Rust stores them as `f32`.
pub(crate) fn mark_single(schema: &mut Value) {
    each_subschema(schema, &mut |keywords| {
        if keywords.get("format").is_some_and(|format| format == "float") {
            keywords.insert(SINGLE.to_owned(), false.into());
        }
    });
}

/// Enables the range check for all `f32` numbers in `schema`.
///
/// The check is needed if deserialization turns numbers outside the range of `f32` into infinity instead of refusing
/// them.
pub fn mark_overflowing(schema: &mut Value) {
    each_subschema(schema, &mut |keywords| {
        keywords.get_mut(SINGLE).into_iter().for_each(|overflows| *overflows = true.into());
    });
}

/// Returns whether numbers must be checked against the range of `f32`.
pub(crate) fn overflows(schema: &Value) -> bool {
    schema.get(SINGLE) == Some(&Value::Bool(true))
}
