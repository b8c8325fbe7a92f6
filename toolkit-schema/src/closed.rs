//! Closing of the objects inside a schema, for publication.
//!
//! The schema of a Rust type leaves its objects open, because it may become a part of another schema. The
//! contract refuses unlisted members at every depth. Here, each object that lists all its members alone says
//! so. An object of several parts stays open, because `additionalProperties` knows only the names beside it.

use crate::depth::MAX_DEPTH;
use crate::keyword::{each_inside, subschemas};
use crate::keywords::Keywords;
use crate::reference::escape;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The keywords that list members; a schema with several of them consists of parts.
const LISTS: [&str; 10] = [
    "properties",
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "dependentSchemas",
];

/// Returns a copy with closed objects inside, or `None` if there is nothing to close.
pub(crate) fn closed(root: &Value) -> Option<Value> {
    if !subschemas(root).any(|inside| has_open(inside.schema, MAX_DEPTH)) {
        return None;
    }
    let mut parts = BTreeSet::new();
    // References of a definition that is a part lead to parts, too.
    loop {
        let known = parts.len();
        find_parts(root, false, &mut parts, MAX_DEPTH);
        if parts.len() == known {
            break;
        }
    }
    let mut copy = root.clone();
    close_inside(&mut copy, false, &parts, MAX_DEPTH);
    Some(copy)
}

fn has_open(schema: &Value, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    schema.as_object().is_some_and(is_open)
        || subschemas(schema).any(|inside| has_open(inside.schema, levels))
}

/// Returns whether an object lists its members alone, and leaves open whether there are more.
fn is_open(keywords: &Map<String, Value>) -> bool {
    match lists(keywords) {
        0 => keywords.get("type").is_some_and(|kind| kind == "object"),
        count => count == 1 && keywords.contains_key("properties"),
    }
}

fn lists(keywords: &Map<String, Value>) -> usize {
    keywords.keys().filter(|keyword| LISTS.contains(&keyword.as_str())).count()
}

/// Returns whether an inner schema lists only a part of an object's members. `alone` says that the outer
/// schema is no part and has one list.
fn is_part(keyword: &str, key: Option<&str>, alone: bool, parts: &BTreeSet<String>) -> bool {
    match keyword {
        "anyOf" | "oneOf" => !alone,
        "allOf" | "not" | "if" | "then" | "else" | "dependentSchemas" => true,
        "$defs" | "definitions" => {
            parts.contains(&format!("#/{keyword}/{}", escape(key.unwrap_or_default())))
        }
        _ => false,
    }
}

/// Adds the targets that list only a part of an object's members.
fn find_parts(schema: &Value, in_part: bool, parts: &mut BTreeSet<String>, levels: usize) {
    let (Some(keywords), Some(levels)) = (schema.as_object(), levels.checked_sub(1)) else { return };
    let alone = !in_part && lists(keywords) == 1;
    if let Some(Value::String(target)) = keywords.get("$ref")
        && !alone
    {
        parts.insert(target.clone());
    }
    for inside in subschemas(schema) {
        let in_part = is_part(inside.keyword, inside.key.as_deref(), alone, parts);
        find_parts(inside.schema, in_part, parts, levels);
    }
}

fn close_inside(schema: &mut Value, in_part: bool, parts: &BTreeSet<String>, levels: usize) {
    let (Value::Object(keywords), Some(levels)) = (schema, levels.checked_sub(1)) else { return };
    let alone = !in_part && lists(keywords) == 1;
    each_inside(keywords, &mut |keyword, key, inside| {
        close(inside, is_part(keyword, key, alone, parts), parts, levels);
    });
}

/// Closes the objects inside a schema, and then the schema unless it is a part.
fn close(schema: &mut Value, in_part: bool, parts: &BTreeSet<String>, levels: usize) {
    close_inside(schema, in_part, parts, levels);
    if let Value::Object(keywords) = schema
        && !in_part
        && is_open(keywords)
    {
        keywords.set("additionalProperties", false.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(inside: &Value, expected: &Value) {
        let around = |inside: &Value| {
            json!({"type": "object", "properties": {"a": inside}, "additionalProperties": false, "$defs": {
                "part": {"type": "object", "properties": {"x": {}}},
                "inner": {"$ref": "#/$defs/part"},
            }})
        };
        let mut expected = around(expected);
        if !inside.to_string().contains("$ref") {
            expected["$defs"]["part"]["additionalProperties"] = false.into();
        }
        assert_eq!(closed(&around(inside)), Some(expected));
    }

    #[test]
    fn an_object_is_closed_where_it_lists_its_members_alone() {
        let open = json!({"type": "object", "properties": {"b": {"type": "string"}}});
        let shut =
            json!({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false});
        check(&open, &shut);
        check(&json!({"items": open}), &json!({"items": shut}));
        check(&json!({"additionalProperties": open}), &json!({"additionalProperties": shut}));
        check(&json!({"anyOf": [open, {"type": "null"}]}), &json!({"anyOf": [shut, {"type": "null"}]}));
        check(&json!({"type": "object"}), &json!({"type": "object", "additionalProperties": false}));
        check(
            &json!({"properties": {"c": open}}),
            &json!({"properties": {"c": shut}, "additionalProperties": false}),
        );
    }

    #[test]
    fn parts_of_an_object_stay_open() {
        let open = json!({"type": "object", "properties": {"b": {"type": "string"}}});
        for parts in [
            json!({"allOf": [open, open]}),
            json!({"properties": {"tag": {}}, "oneOf": [open]}),
            json!({"properties": {"tag": {}}, "$ref": "#/$defs/part"}),
            json!({"properties": {"tag": {}}, "$ref": "#/$defs/inner"}),
            json!({"allOf": [{"anyOf": [open]}]}),
            json!({"properties": {"tag": {}}, "additionalProperties": {}}),
            json!({"not": open}),
        ] {
            check(&parts, &parts);
        }
    }

    #[test]
    fn a_schema_without_inner_objects_is_not_copied() {
        let flat = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"items": {}}}});
        assert_eq!(closed(&flat), None);
    }
}
