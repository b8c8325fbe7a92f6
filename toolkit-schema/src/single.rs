//! The internal keywords for `f32` numbers and 128-bit integers, which not all forms of types decode.

use crate::keyword::each_subschema;
use serde_json::Value;

/// The keyword that marks a number stored as `f32`.
///
/// Its value is `true` if deserialization turns numbers outside the range of `f32` into infinity.
pub(crate) const SINGLE: &str = "x-toolkit-single";

/// The keyword that marks a 128-bit integer, for the comparison of the schema with its type.
pub(crate) const WIDE: &str = "x-toolkit-wide";

/// Marks the `f32` numbers and 128-bit integers in a generated schema by their formats.
pub(crate) fn mark_numbers(schema: &mut Value) {
    each_subschema(schema, &mut |keywords| {
        let (keyword, value) = match keywords.get("format").and_then(Value::as_str) {
            Some("float") => (SINGLE, false),
            Some("int128" | "uint128") => (WIDE, true),
            _ => return,
        };
        keywords.insert(keyword.to_owned(), value.into());
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
