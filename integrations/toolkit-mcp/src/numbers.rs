//! Numbers that a JSON value cannot hold: integers beyond 64 bits, NaN and infinity.

use serde_json::{Map, Value, json};
use toolkit_core::schema::keyword::each_subschema;
use toolkit_core::schema::{Violation, violations};

/// Returns whether a value that fits a schema holds all numbers exactly: it has no rounded number in place of an integer
/// beyond 64 bits, and no `null` in place of NaN or infinity.
///
/// # Errors
/// The first violation of the schema, apart from such numbers.
pub(crate) fn is_exact(schema: &Value, value: &Value) -> Result<bool, Violation> {
    let with_range = with_types(schema, "integer", |keywords| {
        if let Value::Array(parts) = keywords.entry("allOf").or_insert_with(|| json!([])) {
            parts.push(json!({"minimum": i64::MIN, "maximum": u64::MAX}));
        }
    });
    if violations(&with_range, value).is_empty() {
        return Ok(true);
    }
    let with_null = with_types(schema, "number", |keywords| {
        keywords.insert("type".to_owned(), json!(["number", "null"]));
    });
    if violations(&with_null, value).is_empty() {
        return Ok(false);
    }
    violations(schema, value).into_iter().next().map_or(Ok(false), Err)
}

/// Returns a schema with a change in every part of the type called `name`.
fn with_types(schema: &Value, name: &str, change: impl Fn(&mut Map<String, Value>)) -> Value {
    let mut schema = schema.clone();
    each_subschema(&mut schema, &mut |keywords| {
        if keywords.get("type").is_some_and(|kind| kind == name) {
            change(keywords);
        }
    });
    schema
}
