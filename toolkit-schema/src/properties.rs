//! The schemas of object members and array items.

use crate::pattern::is_match;
use serde_json::Value;

/// Returns the schema in `properties` for the member called `name`.
pub(crate) fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

/// Returns the schemas for the member called `name`.
///
/// The list is from `properties` and `patternProperties`. If it is empty, the second value is from
/// `additionalProperties`.
pub(crate) fn member_schemas<'a>(schema: &'a Value, name: &str) -> (Vec<&'a Value>, Option<&'a Value>) {
    let mut named: Vec<&Value> = property(schema, name).into_iter().collect();
    for (pattern, schema) in schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten()
    {
        if is_match(pattern, name) == Some(true) {
            named.push(schema);
        }
    }
    let other = if named.is_empty() { schema.get("additionalProperties") } else { None };
    (named, other)
}

pub(crate) fn item_schema(schema: &Value, index: usize) -> Option<&Value> {
    // Before draft 2020-12, `items` could list the first items' schemas.
    let items = schema.get("items");
    let old_first = items.and_then(Value::as_array);
    let first = schema.get("prefixItems").and_then(Value::as_array).or(old_first);
    if let Some(item) = first.and_then(|first| first.get(index)) {
        return Some(item);
    }
    if old_first.is_some() { schema.get("additionalItems") } else { items }
}
