//! Simplification of generated schemas.

use crate::default::check_null_default;
use crate::flatten::open_optional_enums;
use crate::format;
use crate::keyword::{boolean_to_object, booleans_inside_to_objects, each_subschema};
use crate::keywords::Keywords;
use crate::marks::{AUTHORED, NAMES, mark_number, range_of, strip_marks};
use crate::types::{names, types};
use schemars::Schema;
use serde_json::{Map, Value};

/// Simplifies a generated schema for models and providers.
///
/// - Boolean schemas become objects, except in `additionalProperties` and `unevaluatedProperties`, because
///   some providers and clients refuse them.
/// - Numeric formats such as `uint32` are removed, because no validator knows them. Bounds replace those of
///   integers below 64 bits.
/// - Formats of texts that JSON Schema lacks, such as `partial-time`, move into the description, because
///   strict clients refuse them.
/// - A choice between documented constants becomes one `enum`, with their documentation in the description.
/// - An optional property refuses `null` if this means the same as leaving the property out.
///
/// Nothing inside `default`, `examples`, `enum` and `const` changes.
///
/// ```
/// let mut schema = serde_json::json!({"type": "integer", "format": "uint8"});
/// toolkit_schema::tidy(&mut schema);
/// assert_eq!(schema, serde_json::json!({"type": "integer", "minimum": 0, "maximum": 255}));
/// ```
pub fn tidy(schema: &mut Value) {
    tidy_with(schema, None, unwrap_optional_properties);
}

/// Simplifies the schema of a tool's arguments. Internal keywords keep what the removed formats tell.
/// Defaults of `null` are checked first, because optional properties lose `null`.
pub fn tidy_arguments(schema: &mut Value) {
    tidy_with(schema, Some(mark_defaults_and_numbers), unwrap_optional_properties);
}

fn mark_defaults_and_numbers(keywords: &mut Map<String, Value>) {
    check_null_default(keywords);
    mark_number(keywords);
}

/// Simplifies a tool's output schema. Optional properties allow `null`, which a result may contain.
pub(crate) fn tidy_output(schema: &mut Value) {
    tidy_with(schema, None, strip_marks);
}

type Pass = fn(&mut Map<String, Value>);

fn tidy_with(schema: &mut Value, before: Option<Pass>, after: Pass) {
    boolean_to_object(schema);
    each_subschema(schema, &mut |keywords| tidy_keywords(keywords, before, after));
}

fn tidy_keywords(keywords: &mut Map<String, Value>, before: Option<Pass>, after: Pass) {
    booleans_inside_to_objects(keywords);
    if let Some(before) = before {
        before(keywords);
    }
    numeric_format_to_bounds(keywords);
    other_format_to_words(keywords);
    merge_constants(keywords);
    open_optional_enums(keywords);
    after(keywords);
}

fn numeric_format_to_bounds(schema: &mut Map<String, Value>) {
    let range = match schema.get("format").and_then(Value::as_str) {
        Some("float" | "double") => None,
        Some(format) if range_of(format).is_some() => range_of(format),
        _ => return,
    };
    if types(schema.get("type")).any(|name| name == "integer" || name == "number") {
        schema.shift_remove("format");
        if let Some((Some(minimum), Some(maximum))) = range {
            schema.entry("minimum").or_insert(minimum.into());
            schema.entry("maximum").or_insert(maximum.into());
        }
    }
}

fn other_format_to_words(schema: &mut Map<String, Value>) {
    let Some(words) = schema.get("format").and_then(Value::as_str).and_then(format::words) else { return };
    schema.shift_remove("format");
    let description = match schema.get("description").and_then(Value::as_str) {
        Some(own) => format!("{own}\n{words}"),
        None => words.to_owned(),
    };
    schema.set("description", description.into());
}

/// Turns the schema of an enum with documented variants into a plain `enum`.
///
/// The schema of a map with this key type can then list the variants as property names.
pub fn constants_to_enum(schema: &mut Schema) {
    if let Some(keywords) = schema.as_object_mut() {
        merge_constants(keywords);
    }
}

/// Removes a description. `schemars` gives a type without documentation that of a flattened field.
pub fn remove_description(schema: &mut Schema) {
    schema.remove("description");
}

/// Turns `oneOf: [{const: a, description: …}, {enum: [b, c]}]` into `enum: [a, b, c]`.
fn merge_constants(schema: &mut Map<String, Value>) {
    let Some(keyword) = ["oneOf", "anyOf"].into_iter().find(|keyword| schema.contains_key(*keyword)) else {
        return;
    };
    if schema.contains_key("enum") || schema.contains_key("type") {
        return;
    }
    let Some(Value::Array(branches)) = schema.get(keyword) else { return };
    let Some(Constants { kind, values, notes, aliases, is_authored }) = constants(branches) else { return };
    schema.shift_remove(keyword);
    schema.set("type", kind);
    schema.set("enum", values.into());
    if !aliases.is_empty() {
        schema.set(NAMES, aliases.into());
    }
    if is_authored {
        schema.set(AUTHORED, true.into());
    }
    if !notes.is_empty() {
        let own = schema.get("description").and_then(Value::as_str);
        let lines: Vec<&str> = own.into_iter().chain(notes.iter().map(String::as_str)).collect();
        let description = lines.join("\n");
        schema.set("description", description.into());
    }
}

/// A union of constants.
struct Constants {
    kind: Value,
    values: Vec<Value>,
    /// The descriptions of values.
    notes: Vec<String>,
    aliases: Map<String, Value>,
    is_authored: bool,
}

/// Returns the branches of a union in one list, or `None` unless all are constants of one type.
fn constants(branches: &[Value]) -> Option<Constants> {
    let kind = branches.first()?.get("type")?;
    let mut values = Vec::new();
    let mut notes = Vec::new();
    let mut aliases = Map::new();
    for branch in branches {
        if branch.get("type") != Some(kind) {
            return None;
        }
        for keyword in branch.as_object()?.keys() {
            if !matches!(keyword.as_str(), "type" | "const" | "enum" | "description" | AUTHORED | NAMES) {
                return None;
            }
        }
        match (branch.get("const"), branch.get("enum").and_then(Value::as_array)) {
            (Some(value), None) => {
                values.push(value.clone());
                for alias in names(branch.get(NAMES)) {
                    aliases.insert(alias.to_owned(), value.clone());
                }
                if let Some(note) = branch.get("description").and_then(Value::as_str) {
                    let shown = match value {
                        Value::String(text) => text.clone(),
                        _ => value.to_string(),
                    };
                    notes.push(format!("- `{shown}`: {}", note.replace('\n', " ")));
                }
            }
            (None, Some(listed)) => values.extend(listed.iter().cloned()),
            _ => return None,
        }
    }
    let is_authored = branches.iter().any(|branch| branch.get(AUTHORED).is_some());
    Some(Constants { kind: kind.clone(), values, notes, aliases, is_authored })
}

/// Removes `null` from optional properties, which the model can leave out instead.
///
/// A property keeps `null` if another default would apply when it is left out.
fn unwrap_optional_properties(schema: &mut Map<String, Value>) {
    let required: Vec<String> = names(schema.get("required")).map(str::to_owned).collect();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        let Some(property) = property.as_object_mut() else { continue };
        if required.contains(name) {
            continue;
        }
        if property.get("default").is_none_or(Value::is_null) && remove_null(property) {
            property.shift_remove("default");
        }
    }
}

/// Removes `null` from types or branches, and returns whether it was there.
///
/// A schema that accepts only `null` stays, because empty lists are invalid.
fn remove_null(schema: &mut Map<String, Value>) -> bool {
    if let Some(Value::Array(names)) = schema.get("type") {
        let others: Vec<Value> = names.iter().filter(|name| **name != "null").cloned().collect();
        let is_listed_null = match schema.get("enum") {
            Some(Value::Array(values)) => values.iter().all(Value::is_null),
            _ => false,
        };
        if others.len() == names.len() || others.is_empty() || is_listed_null {
            return false;
        }
        schema.set("type", if let [only] = others.as_slice() { only.clone() } else { others.into() });
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        return true;
    }
    let Some(Value::Array(branches)) = schema.get_mut("anyOf") else { return false };
    let before = branches.len();
    if branches.iter().all(is_null) {
        return false;
    }
    branches.retain(|branch| !is_null(branch));
    let changed = branches.len() < before;
    if let [Value::Object(only)] = branches.as_mut_slice() {
        let only = std::mem::take(only);
        schema.shift_remove("anyOf");
        for (keyword, value) in only {
            match (keyword.as_str(), schema.get("description").and_then(Value::as_str)) {
                ("description", Some(own)) => {
                    let description = with_notes(own, value.as_str().unwrap_or_default());
                    schema.insert(keyword, description.into());
                }
                _ => drop(schema.entry(keyword).or_insert(value)),
            }
        }
    }
    changed
}

fn is_null(branch: &Value) -> bool {
    branch.get("type").is_some_and(|name| name == "null")
}

/// Returns `description` followed by the notes of `other`. A note is a line about one allowed value, such as
/// ``- `celsius`: Degrees Celsius.``, or about a format.
#[must_use]
pub fn with_notes(description: &str, other: &str) -> String {
    let notes = other.lines().filter(|line| line.starts_with("- `") || format::is_words(line));
    std::iter::once(description).chain(notes).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
    fn formats_that_json_schema_lacks_become_words() {
        check(
            json!({"type": ["string", "null"], "format": "partial-time", "description": "The start."}),
            &json!({"type": ["string", "null"],
                "description": "The start.\nA time of day without a time zone, as in 13:45:00."}),
        );
        check(
            json!({"type": "string", "format": "ip"}),
            &json!({"type": "string", "description": "An IPv4 or IPv6 address, as in 192.0.2.1."}),
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
    fn optional_properties_lose_null_and_required_ones_keep_it() {
        check(
            json!({"type": "object", "required": ["b"], "properties": {
                "a": {"type": ["string", "null"], "default": null},
                "b": {"type": ["string", "null"]},
                "c": {"anyOf": [{"$ref": "#/$defs/C"}, {"type": "null"}], "description": "C."},
                "d": {"type": ["string", "null"], "default": "x"},
                "e": {"anyOf": [{"type": "null"}]},
                "f": {"type": ["null"]},
                "g": {"type": ["string", "null"], "enum": [null]},
            }}),
            &json!({"type": "object", "required": ["b"], "properties": {
                "a": {"type": "string"},
                "b": {"type": ["string", "null"]},
                "c": {"description": "C.", "$ref": "#/$defs/C"},
                "d": {"type": ["string", "null"], "default": "x"},
                "e": {"anyOf": [{"type": "null"}]},
                "f": {"type": ["null"]},
                "g": {"type": ["string", "null"], "enum": [null]},
            }}),
        );
    }

    #[test]
    fn tidying_takes_no_property_name_or_value_for_a_keyword() {
        let schema = json!({"type": "object", "required": ["format"], "properties": {
            "format": {"type": "string", "default": {"type": "integer", "format": "int8"}},
            "oneOf": {"enum": [{"type": "integer", "format": "int8"}]},
        }});
        check(schema.clone(), &schema);
    }
}
