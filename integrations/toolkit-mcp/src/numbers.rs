//! Numbers that a JSON value cannot hold: integers beyond 64 bits, NaN and infinity.

use serde_json::{Map, Value, json};
use toolkit_core::schema::keyword::each_subschema;
use toolkit_core::schema::{Violation, violations};

/// Returns whether a value that fits a schema holds all numbers exactly: it has no rounded number in place of
/// an integer beyond 64 bits, and no `null` in place of NaN or infinity.
///
/// # Errors
/// The first violation of the schema, apart from such numbers.
pub(crate) fn is_exact(schema: &Value, value: &Value) -> Result<bool, Violation> {
    let mut with_range = schema.clone();
    each_subschema(&mut with_range, &mut limit_integer);
    if violations(&with_range, value).is_empty() {
        return Ok(true);
    }
    let mut with_null = schema.clone();
    each_subschema(&mut with_null, &mut permit_null);
    if violations(&with_null, value).is_empty() {
        return Ok(false);
    }
    match violations(schema, value).into_iter().next() {
        Some(first) => Err(first),
        None => Ok(false),
    }
}

/// Limits an integer to those that a JSON value holds exactly.
fn limit_integer(keywords: &mut Map<String, Value>) {
    if keywords.get("type").is_some_and(|kind| kind == "integer")
        && let Value::Array(parts) = keywords.entry("allOf").or_insert_with(|| json!([]))
    {
        parts.push(json!({"minimum": i64::MIN, "maximum": u64::MAX}));
    }
}

fn permit_null(keywords: &mut Map<String, Value>) {
    if keywords.get("type").is_some_and(|kind| kind == "number") {
        keywords.insert("type".to_owned(), json!(["number", "null"]));
    }
}
