//! Converts Gemini's subset of OpenAPI schemas to JSON Schema.

use crate::json::fields::{Fields, camel, kind};
use serde_json::{Number, Value, json};
use toolkit_schema::keyword::{Holds, Keyword};

/// The maximum depth of the conversion. Deeper schemas stay unchanged; JSON parsers refuse them anyway.
const DEEPEST: usize = 128;

/// Converts a schema in Gemini's form to JSON Schema.
///
/// For example, `{"type": "STRING", "nullable": true}` becomes `{"type": ["string", "null"]}`. A schema that
/// is already in JSON Schema stays unchanged.
pub(super) fn to_json_schema(schema: &Value) -> Value {
    convert(schema, DEEPEST)
}

fn convert(schema: &Value, depth: usize) -> Value {
    let (Value::Object(fields), Some(depth)) = (schema, depth.checked_sub(1)) else { return schema.clone() };
    let mut json = Fields::new();
    for (name, value) in fields {
        if let Some((name, value)) = keyword(name, value, depth) {
            json.insert(name, value);
        }
    }
    order_properties(&mut json);
    type_enum(&mut json);
    match json.shift_remove("nullable") {
        Some(Value::Bool(true)) => nullable(json),
        _ => Value::Object(json),
    }
}

/// Converts a keyword, or returns `None` to drop it.
fn keyword(name: &str, value: &Value, depth: usize) -> Option<(String, Value)> {
    let spelled = camel(name);
    let known = match &*spelled {
        // The format `enum` only repeats that the schema has an `enum`.
        "format" if value == "enum" => return None,
        "example" => return Some(("examples".to_owned(), json!([value]))),
        "ref" => {
            let target = match value.as_str().unwrap_or_default().strip_prefix("#/defs/") {
                Some(name) => format!("#/$defs/{name}").into(),
                None => value.clone(),
            };
            return Some(("$ref".to_owned(), target));
        }
        "defs" => "$defs",
        known => known,
    };
    let Some(Keyword { holds, .. }) = Keyword::find(known) else {
        return Some((name.to_owned(), value.clone()));
    };
    let value = match (holds, value) {
        (Holds::Types, kind) => lower_case(kind)?,
        (Holds::Count, count) => number(count).unwrap_or_else(|| count.clone()),
        (Holds::NamedSchemas, Value::Object(named)) => {
            named.iter().map(|(name, schema)| (name.clone(), convert(schema, depth))).collect()
        }
        (Holds::Schema | Holds::Schemas, Value::Array(list)) => {
            list.iter().map(|schema| convert(schema, depth)).collect()
        }
        (Holds::Schema, schema) => convert(schema, depth),
        _ => value.clone(),
    };
    Some((known.to_owned(), value))
}

fn lower_case(kind: &Value) -> Option<Value> {
    match kind {
        Value::String(kind) if kind == "TYPE_UNSPECIFIED" => None,
        Value::String(kind) => Some(kind.to_ascii_lowercase().into()),
        Value::Array(kinds) => Some(kinds.iter().filter_map(lower_case).collect()),
        _ => Some(kind.clone()),
    }
}

/// Parses a number, because Protobuf writes 64-bit integers as strings.
fn number(value: &Value) -> Option<Value> {
    let number: Number = serde_json::from_str(value.as_str()?).ok()?;
    Some(number.into())
}

/// Sorts the properties by `propertyOrdering`, and removes this keyword, which JSON Schema lacks.
fn order_properties(json: &mut Fields) {
    let Some(Value::Array(order)) = json.shift_remove("propertyOrdering") else { return };
    let Some(Value::Object(properties)) = json.get_mut("properties") else { return };
    let mut ordered = Fields::new();
    for name in order.iter().filter_map(Value::as_str) {
        if let Some(schema) = properties.get(name) {
            ordered.insert(name.to_owned(), schema.clone());
        }
    }
    for (name, schema) in std::mem::take(properties) {
        ordered.entry(name).or_insert(schema);
    }
    *properties = ordered;
}

/// Converts the values of a numeric `enum` to numbers, because Gemini writes all values as strings.
fn type_enum(json: &mut Fields) {
    if !matches!(kind(json), Some("integer" | "number")) {
        return;
    }
    if let Some(Value::Array(values)) = json.get_mut("enum") {
        for value in values {
            if let Some(number) = number(value) {
                *value = number;
            }
        }
    }
}

fn nullable(mut json: Fields) -> Value {
    if let Some(Value::Array(values)) = json.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    // Inside `json!`, the name `null` would be the literal.
    let no_value = json!({"type": "null"});
    if let Some(kind) = json.get_mut("type") {
        add_null(kind);
    } else if json.contains_key("$ref") {
        return json!({"anyOf": [json, no_value]});
    } else if let Some(Value::Array(choices)) = json.get_mut("anyOf")
        && !choices.contains(&no_value)
    {
        choices.push(no_value);
    }
    Value::Object(json)
}

fn add_null(kind: &mut Value) {
    match kind {
        Value::Array(kinds) if kinds.iter().all(|kind| kind != "null") => kinds.push("null".into()),
        Value::String(one) if one != "null" => *kind = json!([one, "null"]),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(google: &Value, json_schema: &Value) {
        // Compared as text, so that the order counts.
        assert_eq!(to_json_schema(google).to_string(), json_schema.to_string());
        assert_eq!(to_json_schema(json_schema), *json_schema, "JSON Schema stays as it is");
    }

    #[test]
    fn types_are_lower_case_at_every_depth() {
        check(
            &json!({"type": "OBJECT", "properties": {
                "xs": {"type": "ARRAY", "items": {"type": "STRING"}, "min_items": "1", "maxItems": 3},
                "n": {"anyOf": [{"type": "INTEGER"}, {"type": "TYPE_UNSPECIFIED"}]},
                "map": {"type": "OBJECT", "additional_properties": {"type": "NUMBER"}},
            }}),
            &json!({"type": "object", "properties": {
                "xs": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
                "n": {"anyOf": [{"type": "integer"}, {}]},
                "map": {"type": "object", "additionalProperties": {"type": "number"}},
            }}),
        );
    }

    #[test]
    fn property_names_and_values_are_not_taken_for_keywords() {
        let schema = json!({"type": "object", "default": {"type": "STRING", "nullable": true}, "properties": {
            "type": {"type": "string", "enum": ["STRING", "OBJECT"]}, "nullable": {"type": "boolean"},
            "any_of": {"type": "string"}, "ref": {"type": "string"},
        }});
        check(&schema, &schema);
    }

    #[test]
    fn nullable_becomes_a_type() {
        check(
            &json!({"type": "STRING", "nullable": true, "enum": ["a"]}),
            &json!({"type": ["string", "null"], "enum": ["a", null]}),
        );
        check(&json!({"type": "STRING", "nullable": false}), &json!({"type": "string"}));
        check(
            &json!({"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}], "nullable": true}),
            &json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
        );
        check(
            &json!({"ref": "#/defs/Tree", "nullable": true}),
            &json!({"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}),
        );
    }

    #[test]
    fn enums_of_numbers_become_numbers() {
        check(
            &json!({"type": "INTEGER", "format": "enum", "enum": ["1", "20", "x"]}),
            &json!({"type": "integer", "enum": [1, 20, "x"]}),
        );
    }

    #[test]
    fn references_examples_and_order_are_converted() {
        check(
            &json!({
                "type": "OBJECT",
                "properties": {"a": {"ref": "#/defs/A"}, "b": {"type": "STRING", "example": "x"}, "c": {}},
                "propertyOrdering": ["b", "a", "gone"],
                "defs": {"A": {"type": "BOOLEAN"}},
            }),
            &json!({
                "type": "object",
                "properties": {"b": {"type": "string", "examples": ["x"]}, "a": {"$ref": "#/$defs/A"}, "c": {}},
                "$defs": {"A": {"type": "boolean"}},
            }),
        );
    }

    #[test]
    fn depth_is_bounded() {
        let mut schema = json!({"type": "STRING"});
        for _ in 0..300 {
            schema = json!({"items": schema});
        }
        assert_eq!(to_json_schema(&schema), schema);
    }
}
