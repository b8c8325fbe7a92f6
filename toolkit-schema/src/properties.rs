//! The schemas of object members and array items.

use crate::pattern::is_match;
use serde_json::Value;

/// Returns the schemas for the member called `name`.
///
/// The list contains the matching schemas from `properties` and `patternProperties`. If there are none, the second
/// value is the schema from `additionalProperties`.
pub(crate) fn member_schemas<'a>(schema: &'a Value, name: &str) -> (Vec<&'a Value>, Option<&'a Value>) {
    let held = |keyword: &str| schema.get(keyword).and_then(Value::as_object);
    let own = held("properties").and_then(|properties| properties.get(name));
    let by_pattern = held("patternProperties").into_iter().flatten();
    let by_pattern =
        by_pattern.filter(|(pattern, _)| is_match(pattern, name) == Some(true)).map(|(_, schema)| schema);
    let named: Vec<&Value> = own.into_iter().chain(by_pattern).collect();
    let other = schema.get("additionalProperties").filter(|_| named.is_empty());
    (named, other)
}

/// Returns the schema for the array item at `index`.
pub(crate) fn item_schema(schema: &Value, index: usize) -> Option<&Value> {
    // Before draft 2020-12, `items` could hold a list with the schemas of the first items.
    let first = ["prefixItems", "items"].iter().find_map(|keyword| schema.get(keyword)?.as_array());
    first.and_then(|first| first.get(index)).or_else(|| {
        let rest = if schema.get("items").is_some_and(Value::is_array) { "additionalItems" } else { "items" };
        schema.get(rest)
    })
}
