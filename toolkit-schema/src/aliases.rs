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

/// The name of the property of an object's schema that answers to a name.
pub fn property_named<'a>(schema: &'a Value, name: &str) -> Option<&'a str> {
    property(schema.get("properties")?.as_object()?, name).map(|(name, _)| name.as_str())
}

fn answers_to(property: &Value, name: &str) -> bool {
    let aliases = property.get(ALIASES).and_then(Value::as_array).into_iter().flatten();
    aliases.into_iter().any(|alias| alias == name)
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
