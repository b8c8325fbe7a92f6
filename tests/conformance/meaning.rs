//! Whether two schemas accept the same values, found by trying values.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// How deep a schema is searched for properties and allowed values.
const DEEPEST: usize = 12;

/// The first object that one of the schemas accepts and the other does not; `None` if they agree on all
/// that are tried, or if one of them is no valid schema. Arguments are always an object.
pub(crate) fn difference(one: &Value, other: &Value) -> Option<Value> {
    let (first, second) = (validator(one)?, validator(other)?);
    samples(one)
        .into_iter()
        .filter(Value::is_object)
        .find(|value| first.is_valid(value) != second.is_valid(value))
}

fn validator(schema: &Value) -> Option<Validator> {
    jsonschema::draft202012::new(schema).ok()
}

/// The keywords that schemas use, and `required:unknown` where a name is required that is no property.
pub(crate) fn keywords(one: &Value, other: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect_keywords(one, 0, &mut found);
    collect_keywords(other, 0, &mut found);
    found
}

fn collect_keywords(schema: &Value, depth: usize, found: &mut BTreeSet<String>) {
    let Value::Object(fields) = schema else { return };
    if depth > DEEPEST {
        return;
    }
    for (keyword, value) in fields {
        found.insert(keyword.clone());
        match (keyword.as_str(), value) {
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(schemas)) => {
                schemas.values().for_each(|schema| collect_keywords(schema, depth + 1, found));
            }
            ("enum" | "const" | "default" | "examples", _) => {}
            ("type", Value::Array(_)) => {
                found.insert("type:several".to_owned());
            }
            ("required", Value::Array(names)) => {
                let is_known = |name: &Value| {
                    fields
                        .get("properties")
                        .is_some_and(|known| known.get(name.as_str().unwrap_or_default()).is_some())
                };
                if names.is_empty() || !names.iter().all(is_known) {
                    found.insert("required:unknown".to_owned());
                }
            }
            (_, Value::Array(schemas)) => {
                schemas.iter().for_each(|schema| collect_keywords(schema, depth + 1, found));
            }
            (_, schema) => collect_keywords(schema, depth + 1, found),
        }
    }
}

/// A schema in plain JSON Schema, where `nullable` means nothing.
pub(crate) fn without_nullable(schema: &Value) -> Value {
    each_schema(schema, &|fields| match fields.shift_remove("nullable") {
        Some(Value::Bool(true)) => json!({"anyOf": [fields, {"type": "null"}]}),
        _ => json!(fields),
    })
}

/// A schema without what Google need not be told: its models never write members that are not named.
pub(crate) fn without_closing(schema: &Value) -> Value {
    each_schema(schema, &|fields| {
        if fields.get("additionalProperties") == Some(&Value::Bool(false)) {
            fields.shift_remove("additionalProperties");
        }
        json!(fields)
    })
}

fn each_schema(schema: &Value, change: &dyn Fn(&mut Map<String, Value>) -> Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut fields = fields.clone();
    for (keyword, value) in &mut fields {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(|property| *property = each_schema(property, change));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| *schema = each_schema(schema, change));
            }
            ("items" | "additionalProperties", schema) => *schema = each_schema(schema, change),
            _ => {}
        }
    }
    change(&mut fields)
}

/// Arguments to try: for each property that is named anywhere, objects with each value that may make a
/// difference, alone and beside values for all others.
fn samples(schema: &Value) -> Vec<Value> {
    let mut found = Found::default();
    found.look(schema, 0);
    let plain = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-7),
        json!(2.5),
        json!(100_000),
        json!(""),
        json!("a"),
        json!("x".repeat(300)),
        json!([]),
        json!([1]),
        json!(["a", "a"]),
        json!({}),
    ];
    let mut values: Vec<Value> = plain
        .into_iter()
        .chain(found.values.iter().filter_map(|text| serde_json::from_str(text).ok()))
        .collect();
    for round in 0..2 {
        let inner: Vec<Value> =
            if round == 0 { values.clone() } else { values.iter().take(40).cloned().collect() };
        let objects = found.names.iter().flat_map(|name| inner.iter().map(move |value| json!({name: value})));
        let objects: Vec<Value> = objects.collect();
        let all =
            |value: &Value| found.names.iter().map(|name| (name.clone(), value.clone())).collect::<Value>();
        let full: Vec<Value> = inner.iter().map(all).collect();
        values.extend(objects.into_iter().chain(full).take(1500));
        if round == 0 {
            let lists: Vec<Value> = values.iter().take(60).map(|value| json!([value])).collect();
            values.extend(lists);
        }
    }
    values
}

#[derive(Default)]
struct Found {
    names: BTreeSet<String>,
    /// Values of `enum`, `const` and `default`, as JSON text.
    values: BTreeSet<String>,
}

impl Found {
    fn look(&mut self, schema: &Value, depth: usize) {
        let Value::Object(fields) = schema else { return };
        if depth > DEEPEST {
            return;
        }
        for (keyword, value) in fields {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    self.names.extend(properties.keys().cloned());
                    properties.values().for_each(|property| self.look(property, depth + 1));
                }
                ("$defs" | "definitions", Value::Object(schemas)) => {
                    schemas.values().for_each(|schema| self.look(schema, depth + 1));
                }
                ("required", Value::Array(names)) => {
                    self.names.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                ("enum", Value::Array(values)) => self.values.extend(values.iter().map(Value::to_string)),
                ("const" | "default", value) => {
                    self.values.insert(value.to_string());
                }
                (_, Value::Array(schemas)) => schemas.iter().for_each(|schema| self.look(schema, depth + 1)),
                (_, schema) => self.look(schema, depth + 1),
            }
        }
    }
}
