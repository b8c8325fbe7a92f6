//! Visiting every schema inside a schema, and nothing that only looks like one.

use serde_json::{Map, Value};

/// Keywords whose value is a schema.
const ONE: &[&str] = &[
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas.
const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];

/// Keywords whose value maps names to schemas.
const MAP: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Calls `visit` with every schema object inside `schema`, inner ones first, then with `schema`
/// itself. Property names, defaults, examples and enum values are not taken for schemas.
pub fn each_schema(schema: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Value::Object(object) = schema else { return };
    for (keyword, value) in object.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Object(named) if MAP.contains(&keyword) => {
                named.values_mut().for_each(|schema| each_schema(schema, visit));
            }
            Value::Array(list) if LIST.contains(&keyword) => {
                list.iter_mut().for_each(|schema| each_schema(schema, visit));
            }
            Value::Object(_) if ONE.contains(&keyword) => each_schema(value, visit),
            _ => {}
        }
    }
    visit(object);
}
