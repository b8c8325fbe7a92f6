//! Bringing generated schemas into the form that models and providers read best.

use super::walk::each_schema;
use serde_json::{Map, Value, json};

/// Brings a generated schema into the plain form that models and providers read best.
///
/// - A numeric `format` (`uint32`, `double`) becomes bounds: no validator knows these formats.
/// - A choice between documented constants becomes one `enum`; what was said about each value moves
///   into the description.
/// - A property that may be absent and whose `null` means the same has its plain type.
///
/// Nothing is changed inside `default`, `examples`, `enum` and `const`.
pub fn tidy(schema: &mut Value) {
    tidy_written(schema);
    each_schema(schema, &mut plain_optional_properties);
}

/// The same for the schema of what is written: a property that may be absent may be `null` all the same.
pub(crate) fn tidy_written(schema: &mut Value) {
    each_schema(schema, &mut |schema| {
        schema.shift_remove(super::ONE_OF);
        numeric_format_to_bounds(schema);
        constants_to_enum(schema);
    });
}

fn numeric_format_to_bounds(schema: &mut Map<String, Value>) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else { return };
    let bounds = match format {
        "int8" => Some((i64::from(i8::MIN), i64::from(i8::MAX))),
        "int16" => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
        "int32" => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        "uint8" => Some((0, i64::from(u8::MAX))),
        "uint16" => Some((0, i64::from(u16::MAX))),
        "uint32" => Some((0, i64::from(u32::MAX))),
        "int64" | "int128" | "int" | "uint64" | "uint128" | "uint" | "float" | "double" => None,
        _ => return,
    };
    let is_number = match schema.get("type") {
        Some(Value::String(kind)) => kind == "integer" || kind == "number",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "integer" || kind == "number"),
        _ => false,
    };
    if !is_number {
        return;
    }
    schema.shift_remove("format");
    if let Some((minimum, maximum)) = bounds {
        insert_missing(schema, "minimum", minimum);
        insert_missing(schema, "maximum", maximum);
    }
}

fn insert_missing(schema: &mut Map<String, Value>, keyword: &str, bound: i64) {
    if !schema.contains_key(keyword) {
        schema.insert(keyword.to_owned(), bound.into());
    }
}

/// `oneOf: [{const: a, description: …}, {enum: [b, c]}]` says the same as `enum: [a, b, c]`.
fn constants_to_enum(schema: &mut Map<String, Value>) {
    let Some(keyword) = ["oneOf", "anyOf"].into_iter().find(|keyword| schema.contains_key(*keyword)) else {
        return;
    };
    let Some(constants) = schema.get(keyword).and_then(Value::as_array).and_then(|list| constants(list))
    else {
        return;
    };
    if schema.contains_key("enum") || schema.contains_key("type") {
        return;
    }
    schema.shift_remove(keyword);
    schema.insert("type".to_owned(), constants.kind);
    schema.insert("enum".to_owned(), Value::Array(constants.values));
    if !constants.notes.is_empty() {
        let own = schema.get("description").and_then(Value::as_str);
        let lines: Vec<&str> = own.into_iter().chain(constants.notes.iter().map(String::as_str)).collect();
        let description = lines.join("\n");
        schema.insert("description".to_owned(), description.into());
    }
}

struct Constants {
    kind: Value,
    values: Vec<Value>,
    notes: Vec<String>,
}

fn constants(branches: &[Value]) -> Option<Constants> {
    let kind = branches.first()?.get("type")?.clone();
    let mut constants = Constants { kind, values: Vec::new(), notes: Vec::new() };
    for branch in branches {
        let branch = branch.as_object()?;
        let known = |keyword: &String| matches!(keyword.as_str(), "type" | "const" | "enum" | "description");
        if branch.get("type") != Some(&constants.kind) || !branch.keys().all(known) {
            return None;
        }
        match (branch.get("const"), branch.get("enum").and_then(Value::as_array)) {
            (Some(value), None) => constants.values.push(value.clone()),
            (None, Some(values)) => constants.values.extend(values.iter().cloned()),
            _ => return None,
        }
        if let (Some(note), Some(value)) =
            (branch.get("description").and_then(Value::as_str), branch.get("const"))
        {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            constants.notes.push(format!("- `{value}`: {}", note.replace('\n', " ")));
        }
    }
    Some(constants)
}

/// A property that is not required can be left out, so the model need not know `null` as well. It
/// stays where a default says that absence means something else.
fn plain_optional_properties(schema: &mut Map<String, Value>) {
    let required: Vec<Value> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties.iter_mut() {
        let Some(property) = property.as_object_mut() else { continue };
        let default = property.get("default");
        let null_is_absence = default.is_none_or(Value::is_null);
        if null_is_absence && !required.iter().any(|required| required == name) && remove_null(property) {
            property.shift_remove("default");
        }
    }
}

/// Takes `null` out of what a schema allows, if something else is left.
fn remove_null(schema: &mut Map<String, Value>) -> bool {
    let null = json!("null");
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        let before = kinds.len();
        kinds.retain(|kind| *kind != null);
        let (changed, only) = (kinds.len() < before, kinds.len() == 1);
        if only && let Some(kind) = kinds.pop() {
            schema.insert("type".to_owned(), kind);
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        return changed;
    }
    let Some(Value::Array(branches)) = schema.get_mut("anyOf") else { return false };
    let before = branches.len();
    branches.retain(|branch| branch.get("type") != Some(&null));
    let changed = branches.len() < before;
    if branches.len() == 1
        && let Some(Value::Object(only)) = branches.pop()
    {
        schema.shift_remove("anyOf");
        for (keyword, value) in only {
            match (keyword.as_str(), schema.get("description").and_then(Value::as_str)) {
                ("description", Some(own)) => {
                    let with_notes = keep_notes(own, value.as_str().unwrap_or_default());
                    schema.insert(keyword, with_notes.into());
                }
                _ => {
                    schema.entry(keyword).or_insert(value);
                }
            }
        }
    }
    changed
}

/// A description with what another one says about each value.
pub fn keep_notes(description: &str, other: &str) -> String {
    let notes = other.lines().filter(|line| line.starts_with("- `"));
    std::iter::once(description).chain(notes).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mut before: Value, after: &Value) {
        tidy(&mut before);
        assert_eq!(before, *after);
    }

    #[test]
    fn numeric_formats_become_bounds() {
        check(
            json!({"type": "integer", "format": "int16"}),
            &json!({"type": "integer", "minimum": -32768, "maximum": 32767}),
        );
        check(
            json!({"type": "integer", "format": "uint32", "minimum": 1}),
            &json!({"type": "integer", "minimum": 1, "maximum": 4_294_967_295_u32}),
        );
        check(json!({"type": "number", "format": "double"}), &json!({"type": "number"}));
        check(
            json!({"type": "string", "format": "date-time"}),
            &json!({"type": "string", "format": "date-time"}),
        );
    }

    #[test]
    fn documented_constants_become_one_enum() {
        check(
            json!({"description": "A unit.", "oneOf": [
                {"type": "string", "enum": ["kelvin"]},
                {"type": "string", "const": "celsius", "description": "Degrees\nCelsius."},
            ]}),
            &json!({"description": "A unit.\n- `celsius`: Degrees Celsius.", "type": "string", "enum": ["kelvin", "celsius"]}),
        );
        let tagged = json!({"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}}}]});
        check(tagged.clone(), &tagged);
    }

    #[test]
    fn optional_properties_are_plain_and_required_ones_keep_null() {
        check(
            json!({"type": "object", "required": ["b"], "properties": {
                "a": {"type": ["string", "null"], "default": null},
                "b": {"type": ["string", "null"]},
                "c": {"anyOf": [{"$ref": "#/$defs/C"}, {"type": "null"}], "description": "C."},
                "d": {"type": ["string", "null"], "default": "x"},
            }}),
            &json!({"type": "object", "required": ["b"], "properties": {
                "a": {"type": "string"},
                "b": {"type": ["string", "null"]},
                "c": {"description": "C.", "$ref": "#/$defs/C"},
                "d": {"type": ["string", "null"], "default": "x"},
            }}),
        );
    }

    #[test]
    fn property_names_and_values_are_not_taken_for_keywords() {
        let schema = json!({"type": "object", "required": ["format"], "properties": {
            "format": {"type": "string", "default": {"type": "integer", "format": "int8"}},
            "oneOf": {"enum": [{"type": "integer", "format": "int8"}]},
        }});
        check(schema.clone(), &schema);
    }
}
