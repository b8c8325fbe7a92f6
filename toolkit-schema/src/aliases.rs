//! Other names of properties: known to the checks, not to the model.
//!
//! A schema has no word for them. `#[derive(ToolParams)]` writes them beside each property, the checks read
//! them, and what is published is without.

use super::walk::each_schema;
use serde_json::{Map, Value};

/// The keyword with the other names of a property.
const ALIASES: &str = "x-toolkit-aliases";

/// Takes the other names out of a schema. If there were any, the schema with them is returned: values are
/// compared with that one.
pub fn without_aliases(schema: &mut Value) -> Option<Value> {
    let with_aliases = schema.clone();
    let mut found = false;
    each_schema(schema, &mut |schema| found |= schema.shift_remove(ALIASES).is_some());
    found.then_some(with_aliases)
}

/// The property that answers to a name, and the name it goes by.
pub(super) fn property<'a>(
    properties: &'a Map<String, Value>,
    name: &str,
) -> Option<(&'a String, &'a Value)> {
    let by_other_name = || properties.iter().find(|(_, property)| answers_to(property, name));
    properties.get_key_value(name).or_else(by_other_name)
}

/// Returns the other names of an object's properties, each with the property's own name.
pub fn aliases(schema: &Value) -> impl Iterator<Item = (&str, &str)> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.flat_map(|(name, property)| other_names(property).map(move |alias| (alias, name.as_str())))
}

fn answers_to(property: &Value, name: &str) -> bool {
    other_names(property).any(|alias| alias == name)
}

fn other_names(property: &Value) -> impl Iterator<Item = &str> {
    property.get(ALIASES).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn other_names_are_found_and_not_published() {
        let mut schema = json!({"properties": {
            "a": {"type": "string", "x-toolkit-aliases": ["b", "c"]},
            "x-toolkit-aliases": {"type": "integer"},
        }});
        let checked = without_aliases(&mut schema).unwrap();
        let published =
            json!({"properties": {"a": {"type": "string"}, "x-toolkit-aliases": {"type": "integer"}}});
        assert_eq!(schema, published);
        let properties = checked["properties"].as_object().unwrap();
        for name in ["a", "b", "c"] {
            assert_eq!(property(properties, name).map(|(name, _)| name.as_str()), Some("a"));
        }
        assert_eq!(property(properties, "d"), None);
        assert_eq!(without_aliases(&mut schema), None);
    }
}
