//! The differences between schemas of OpenAPI and JSON Schema.

use crate::client::document::{Document, Meter, Node, below};
use serde_json::{Map, Value, json};

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Request,
    Answer,
}

impl Direction {
    pub(crate) fn hides(self, document: &Document, member: &Node<'_>) -> bool {
        let keyword = if self == Self::Request { "readOnly" } else { "writeOnly" };
        member.flag(keyword)
            || member.text("$ref").is_some()
                && document.resolve(member.clone()).is_ok_and(|target| target.flag(keyword))
    }
}

pub(super) fn in_definitions(name: &str) -> String {
    below("#/$defs", name)
}

/// Returns the type and the description of a schema that is too deep.
pub(super) fn outline(keywords: &Map<String, Value>, text: impl FnOnce(&str) -> String) -> Value {
    let mut outline = Map::new();
    if let Some(name) = keywords.get("type").and_then(with_type) {
        outline.insert("type".to_owned(), name);
    } else if keywords.contains_key("properties") {
        outline.insert("type".to_owned(), json!("object"));
    }
    if let Some(description) = keywords.get("description").and_then(Value::as_str) {
        outline.insert("description".to_owned(), text(description).into());
    }
    let is_nullable = keywords.get("nullable") == Some(&Value::Bool(true));
    if is_nullable { null_allowed(outline) } else { outline.into() }
}

/// Returns a type without names that JSON Schema does not have.
pub(super) fn with_type(value: &Value) -> Option<Value> {
    match value {
        Value::Array(names) if !names.is_empty() && names.iter().all(is_type) => Some(value.clone()),
        Value::String(name) if name == "file" => Some(json!("string")),
        name if is_type(name) => Some(name.clone()),
        _ => None,
    }
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPES.contains(&name))
}

/// Writes a boolean `exclusiveMinimum` or `exclusiveMaximum` as a number.
pub(super) fn with_bounds(written: &mut Map<String, Value>, keywords: &Map<String, Value>) {
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if keywords.get(exclusive) == Some(&Value::Bool(true))
            && let Some(bound) = written.shift_remove(inclusive)
        {
            written.insert(exclusive.to_owned(), bound);
        }
    }
}

/// Writes a single example as a list, as JSON Schema has it.
pub(crate) fn with_example(written: &mut Map<String, Value>, node: &Node<'_>, meter: &mut Meter) {
    if let Some(example) = node.value.get("example")
        && !example.is_array()
        && !example.is_null()
        && meter.add_value(example)
    {
        written.insert("examples".to_owned(), json!([example]));
    }
}

/// Writes bytes in JSON as Base64. Returns whether the values are bytes.
pub(super) fn base64_text(written: &mut Map<String, Value>, keywords: &Map<String, Value>) -> bool {
    let kind = keywords.get("type").and_then(Value::as_str);
    let format = keywords.get("format").and_then(Value::as_str);
    let is_bytes = kind == Some("file") || format == Some("byte");
    if is_bytes {
        written.shift_remove("format");
        written.insert("contentEncoding".to_owned(), json!("base64"));
    }
    is_bytes
}

pub(super) fn null_allowed(mut schema: Map<String, Value>) -> Value {
    let applies_others = ["allOf", "anyOf", "oneOf", "not", "if", "const", "$ref"];
    let is_plain = !applies_others.iter().any(|keyword| schema.contains_key(*keyword));
    if is_plain
        && let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match schema.get_mut("type") {
        Some(Value::Array(names)) if is_plain => {
            if !names.contains(&json!("null")) {
                names.push(json!("null"));
            }
        }
        Some(name) if is_plain => *name = json!([name, "null"]),
        None if is_plain => {}
        _ => {
            let description = schema.shift_remove("description");
            let mut around = Map::new();
            around.insert("anyOf".to_owned(), json!([schema, {"type": "null"}]));
            if let Some(description) = description {
                around.insert("description".to_owned(), description);
            }
            return around.into();
        }
    }
    schema.into()
}
