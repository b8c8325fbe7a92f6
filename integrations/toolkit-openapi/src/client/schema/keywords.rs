//! The differences between schemas of OpenAPI and JSON Schema.

use crate::client::document::{Document, Meter, Node, below};
use serde_json::{Map, Value, json};

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// The way that values of a schema go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Request,
    Answer,
}

impl Direction {
    /// Returns whether a member does not travel in this direction.
    pub(crate) fn hides(self, document: &Document, member: &Node<'_>) -> bool {
        let keyword = if self == Self::Request { "readOnly" } else { "writeOnly" };
        member.flag(keyword)
            || member.text("$ref").is_some()
                && document.resolve(member.clone()).is_ok_and(|target| target.flag(keyword))
    }
}

/// Returns the reference to a definition of the schema.
pub(super) fn in_definitions(name: &str) -> String {
    below("#/$defs", name)
}

/// Returns a schema with only the type and the description of a schema that is too deep.
pub(super) fn outline(keywords: &Map<String, Value>, text: impl FnOnce(&str) -> String) -> Value {
    let mut outline = Map::new();
    let is_object = keywords.contains_key("properties").then(|| json!("object"));
    if let Some(name) = keywords.get("type").and_then(with_type).or(is_object) {
        outline.insert("type".to_owned(), name);
    }
    if let Some(description) = keywords.get("description").and_then(Value::as_str) {
        outline.insert("description".to_owned(), text(description).into());
    }
    let is_nullable = keywords.get("nullable") == Some(&Value::Bool(true));
    if is_nullable { null_allowed(outline) } else { outline.into() }
}

/// Returns a type without names that JSON Schema does not have.
pub(super) fn with_type(value: &Value) -> Option<Value> {
    let is_known = |name: &&Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(names) => {
            let known: Vec<Value> = names.iter().filter(is_known).cloned().collect();
            (!known.is_empty() && known.len() == names.len()).then(|| known.into())
        }
        Value::String(name) if name == "file" => Some(json!("string")),
        name => Some(name).filter(is_known).cloned(),
    }
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

/// Writes a single example as a list of examples, as JSON Schema has it.
pub(crate) fn with_example(written: &mut Map<String, Value>, node: &Node<'_>, meter: &mut Meter) {
    if let Some(example) =
        node.value.get("example").filter(|example| !example.is_array() && !example.is_null())
        && meter.add_value(example)
    {
        written.insert("examples".to_owned(), json!([example]));
    }
}

/// Writes bytes in JSON as text in Base64. Returns whether the values are bytes.
pub(super) fn base64_text(written: &mut Map<String, Value>, keywords: &Map<String, Value>) -> bool {
    let is = |keyword: &str, value: &str| keywords.get(keyword).is_some_and(|known| known == value);
    let is_bytes = is("type", "file") || is("format", "byte");
    if is_bytes {
        written.shift_remove("format");
        written.insert("contentEncoding".to_owned(), json!("base64"));
    }
    is_bytes
}

/// Returns the schema with `null` as another allowed value.
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
            around.extend(description.map(|text| ("description".to_owned(), text)));
            return around.into();
        }
    }
    schema.into()
}
