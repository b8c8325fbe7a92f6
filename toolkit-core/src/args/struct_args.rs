//! Decoding of arguments into one struct, for closures and functions with `flatten`.

use super::parameter_types::ToolParams;
use super::read::{ArgumentRules, read_arguments, refused_at};
use crate::error::ToolError;
use crate::schema::__private::{Reader, argument_schema_of};
use serde_json::{Map, Value};

/// Returns the schema of `T`, with internal keywords.
#[must_use]
pub fn struct_args<T: ToolParams>() -> Value {
    let mut schema = argument_schema_of::<T>();
    if let Value::Object(root) = &mut schema {
        // The tool's description is published instead.
        root.shift_remove("description");
        if root.get("type").is_some_and(|kind| kind == "object") && is_plain(root) {
            root.entry("properties").or_insert_with(|| Map::new().into());
        }
    }
    schema
}

/// Decodes the arguments into one struct.
pub(crate) fn decode_struct<T: ToolParams>(text: &str, rules: &ArgumentRules<'_>) -> Result<T, ToolError> {
    if let Ok(value) = rules.contract.reader(text).decode() {
        return Ok(value);
    }
    let text = read_arguments(text, rules)?;
    let mut reader = Reader::unchecked(&text);
    let decoded = reader.decode();
    decoded
        .map_err(|error| ToolError::invalid_arguments(vec![refused_at("", &text, reader.offset(), &error)]))
}

/// Makes an object schema refuse additional members if `closed`, and accept them otherwise. Does nothing if
/// it says more about its members than their properties.
pub(crate) fn close(schema: &mut Value, closed: bool) {
    let Value::Object(root) = schema else { return };
    let is_open = root.get("additionalProperties").is_some_and(|rest| rest != &Value::Bool(false));
    if is_open || !root.contains_key("properties") || !is_plain(root) {
        return;
    }
    root.shift_remove("additionalProperties");
    if closed {
        // Definitions come last.
        let definitions = root.shift_remove_entry("$defs");
        root.insert("additionalProperties".to_owned(), false.into());
        root.extend(definitions);
    }
}

/// Returns whether no other part of an object schema lists properties.
fn is_plain(schema: &Map<String, Value>) -> bool {
    const PARTS: [&str; 6] =
        ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "unevaluatedProperties"];
    !PARTS.iter().any(|keyword| schema.contains_key(*keyword))
}

pub(crate) fn is_object(root: &Value) -> bool {
    is_object_at(root, root, 4)
}

fn is_object_at(root: &Value, schema: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let within = |schema: &Value| is_object_at(root, schema, depth);
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.len() == 1 && kinds.iter().all(|kind| kind == "object"),
        Some(kind) => kind == "object",
        None => {
            if let Some(Value::String(reference)) = schema.get("$ref")
                && let Some(pointer) = reference.strip_prefix('#')
                && let Some(target) = root.pointer(pointer)
                && within(target)
            {
                return true;
            }
            let branches = list("anyOf").or_else(|| list("oneOf"));
            branches.is_some_and(|list| list.iter().all(within))
                || list("allOf").is_some_and(|list| list.iter().any(within))
                || schema.get("properties").is_some()
        }
    }
}
