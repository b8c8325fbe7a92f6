//! Measures the size of a schema by the providers' rules.

use crate::json::fields::{list, text};
use serde_json::Value;
use toolkit_schema::keyword::Role;
use toolkit_schema::keyword::subschemas;

/// The size of a schema in a provider's strict dialect.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The number of properties in all objects.
    pub(crate) properties: usize,
    /// The nesting of objects, separately for each entry of `$defs`.
    pub(crate) depth: usize,
    /// The number of values in all enums.
    pub(crate) enum_values: usize,
    /// The largest number of characters in the values of an enum with more than 250 values.
    pub(crate) large_enum: usize,
    /// The characters in property names, `$defs`, enum values and constants.
    pub(crate) characters: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// The number of values above which the characters of an enum have a limit of their own.
const LARGE_ENUM: usize = 250;

impl Measure {
    pub(crate) fn new(schema: &Value) -> Self {
        let mut measure = Self::default();
        each_schema(schema, &mut |schema, depth| measure.add(schema, depth));
        measure
    }

    fn add(&mut self, schema: &Value, depth: usize) {
        self.depth = self.depth.max(depth);
        let required = list(schema, "required");
        if let Some(Value::Object(properties)) = schema.get("properties") {
            self.properties += properties.len();
            for name in properties.keys() {
                self.characters += name.chars().count();
                self.optional += usize::from(!required.iter().any(|other| other == name));
            }
        }
        if let Some(Value::Object(definitions)) = schema.get("$defs") {
            for name in definitions.keys() {
                self.characters += name.chars().count();
            }
        }
        let values = list(schema, "enum");
        let characters = values.iter().map(characters).sum();
        self.enum_values += values.len();
        self.characters += characters + schema.get("const").map(self::characters).unwrap_or_default();
        if values.len() > LARGE_ENUM {
            self.large_enum = self.large_enum.max(characters);
        }
        let is_union = schema.get("anyOf").is_some() || schema.get("type").is_some_and(Value::is_array);
        self.unions += usize::from(is_union);
    }
}

fn characters(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        value => value.to_string().len(),
    }
}

/// Calls `visit` for every schema in `schema`, with its depth: the number of objects around it, plus one if
/// it describes an object itself.
fn each_schema<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a Value, usize)) {
    let mut open = vec![(schema, 0)];
    while let Some((schema, around)) = open.pop() {
        let is_object = text(schema, "type") == "object" || schema.get("properties").is_some();
        let depth = around + usize::from(is_object);
        visit(schema, depth);
        for inside in subschemas(schema) {
            match inside.role {
                Role::Definitions => open.push((inside.schema, 0)),
                _ => open.push((inside.schema, depth)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_is_counted_as_providers_do() {
        let schema = json!({
            "type": "object",
            "properties": {
                "enum": {"type": "string", "enum": ["ab", "c"], "default": {"properties": {"x": {}}}},
                "inner": {"anyOf": [{"type": "object", "properties": {"a": {"const": 12}}}, {"type": "null"}]},
                "tree": {"$ref": "#/$defs/Tree"},
            },
            "required": ["enum"],
            "$defs": {"Tree": {"type": "object", "properties": {"up": {"type": ["string", "null"]}}}},
        });
        let expected = Measure {
            properties: 5,
            depth: 2,
            enum_values: 2,
            large_enum: 0,
            characters: 4 + 5 + 4 + 1 + 2 + 4 + 3 + 2,
            optional: 4,
            unions: 2,
        };
        assert_eq!(Measure::new(&schema), expected);
    }
}
