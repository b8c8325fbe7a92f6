//! Numbers that a JSON value cannot hold: integers beyond 64 bits, NaN and infinity.

use serde_json::{Value, json};
use toolkit_core::schema::{each_subschema, violations};

/// The ends of the range of integers in a value: beyond them, a number is rounded.
const LEAST: f64 = -9_223_372_036_854_775_808.0;
const END: f64 = 18_446_744_073_709_551_616.0;

/// Returns whether a value fits a schema, or breaks it only by such numbers: the value has a rounded number in place of
/// an integer beyond 64 bits, and `null` in place of NaN and infinity.
pub(crate) fn fits_except_numbers(schema: &Value, value: &Value) -> bool {
    let mut schema = schema.clone();
    each_subschema(&mut schema, &mut |keywords| {
        if let Some(kind) = keywords.get_mut("type").filter(|kind| *kind == "number") {
            *kind = json!(["number", "null"]);
        }
    });
    violations(&schema, &within_range(value)).is_empty()
}

/// Returns the value with the nearest integer of 64 bits in place of each rounded number.
fn within_range(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(double) if number.is_f64() && double >= END => u64::MAX.into(),
            Some(double) if number.is_f64() && double <= LEAST => i64::MIN.into(),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(within_range).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), within_range(member))).collect()
        }
        _ => value.clone(),
    }
}
