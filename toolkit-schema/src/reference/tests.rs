//! References as providers take them, compared with the originals by a validator.

#![cfg(feature = "jsonschema")]

use super::{LoopExits, fit_references, isolate_references, target};
use crate::dialect::SchemaLoss;
use crate::keyword::{Role, subschemas};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use std::ptr;

fn reference(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let target = select(vec!["#/$defs/A", "#/$defs/Object", "#/$defs/Word"]);
    let beside = json!({
        "title": "T", "default": {"$ref": "#", "title": "data"}, "minLength": 2, "enum": ["ab", "b", 1, {}],
        "type": ["string", "object"], "required": ["a"], "properties": {"b": {"type": "integer"}},
        "additionalProperties": false, "unevaluatedProperties": false, "not": {"const": "ab"}, "$comment": "C.",
    });
    let beside: Vec<(String, Value)> = beside.as_object().unwrap().clone().into_iter().collect();
    let unions = subsequence(vec!["anyOf", "oneOf", "allOf"], 0..=3);
    let parts = prop::collection::vec(inner, 6);
    (target, subsequence(beside, 0..=4), unions, parts).prop_map(|(target, beside, unions, parts)| {
        let mut schema: Map<String, Value> = beside.into_iter().collect();
        schema.insert("$ref".to_owned(), target.into());
        for (union, parts) in unions.into_iter().zip(parts.chunks(2)) {
            schema.insert(union.to_owned(), parts.into());
        }
        schema.into()
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = select(vec![
        json!({"type": "string"}),
        json!({"type": "integer"}),
        json!({}),
        json!({"minLength": 2}),
    ]);
    prop_oneof![leaf.clone(), reference(leaf)].prop_recursive(3, 16, 3, |inner| {
        let properties = prop::collection::btree_map(select(vec!["a", "b", "$ref"]), inner.clone(), 0..3);
        prop_oneof![
            2 => reference(inner.clone()),
            1 => properties.prop_map(|properties| json!({"properties": properties})),
            1 => inner.prop_map(|items| json!({"type": "array", "items": items})),
        ]
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = select(vec![json!(null), json!(1), json!("ab"), json!("b"), json!("")]);
    leaf.prop_recursive(2, 8, 3, |inner| {
        let members = prop::collection::btree_map(select(vec!["a", "b", "$ref"]), inner.clone(), 0..3);
        prop_oneof![
            members.prop_map(|members| json!(members)),
            prop::collection::vec(inner, 0..2).prop_map(Value::from),
        ]
    })
}

fn is_isolated(schema: &Value) -> bool {
    let is_alone =
        schema.as_object().is_none_or(|keywords| !keywords.contains_key("$ref") || keywords.len() == 1);
    is_alone && subschemas(schema).all(|inside| is_isolated(inside.schema))
}

proptest! {
    #[test]
    fn isolated_references_allow_the_same_values(
        root in schema(),
        target in schema(),
        values in prop::collection::vec(value(), 12),
    ) {
        let mut schema = json!({"$ref": "#/$defs/Root", "$defs": {
            "Root": root,
            "A": {"properties": {"a": target}},
            "Object": {"type": "object", "properties": {"a": {"$ref": "#/$defs/Word", "title": "T"}}},
            "Word": {"type": "string", "enum": ["ab", "b"]},
        }});
        let before = jsonschema::draft202012::new(&schema).unwrap();
        isolate_references(&mut schema);
        prop_assert!(is_isolated(&schema), "{}", schema);
        let after = jsonschema::draft202012::new(&schema).unwrap();
        for value in &values {
            prop_assert_eq!(before.is_valid(value), after.is_valid(value), "{} {}", value, schema);
        }
        let once = schema.clone();
        isolate_references(&mut schema);
        prop_assert_eq!(once, schema);
    }
}

/// Returns a converted document with one definition, `T`, and the losses.
#[track_caller]
fn fitted(definition: Value, exits: LoopExits) -> (Value, Vec<String>) {
    let mut schema = json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}, "required": ["t"],
        "$defs": {"T": definition}});
    let losses = fit_references(&mut schema, exits);
    let root = json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}, "required": ["t"]});
    for (keyword, value) in root.as_object().unwrap() {
        assert_eq!(&schema[keyword], value);
    }
    let losses = losses.iter().map(|SchemaLoss { path, keyword, .. }| format!("{keyword} at {path}"));
    (schema["$defs"]["T"].take(), losses.collect())
}

fn node(next: &Value) -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string"}, "next": next}, "required": ["name", "next"]})
}

#[test]
fn a_property_on_a_loop_is_required_only_where_the_loop_has_another_end() {
    use LoopExits::{EmptyParts, OptionalMembers};
    let itself = json!({"$ref": "#/$defs/T"});
    let list = json!({"type": "array", "items": itself});
    let filled = json!({"type": "array", "items": itself, "minItems": 1});
    let nullable = json!({"anyOf": [itself, {"type": "null"}]});
    let union = json!({"anyOf": [{"type": "string"}, itself]});
    let map = json!({"type": "object", "additionalProperties": itself});
    for (next, refused) in [
        (&itself, &[EmptyParts, OptionalMembers][..]),
        (&union, &[EmptyParts, OptionalMembers]),
        (&filled, &[EmptyParts, OptionalMembers]),
        (&nullable, &[OptionalMembers]),
        (&list, &[OptionalMembers]),
        (&map, &[]),
    ] {
        for exits in [EmptyParts, OptionalMembers] {
            let (definition, losses) = fitted(node(next), exits);
            if !refused.contains(&exits) {
                assert_eq!((definition, losses), (node(next), vec![]));
                continue;
            }
            assert_eq!(losses, ["required at /$defs/T/properties/next"], "{next}");
            assert_eq!(definition["required"], json!(["name"]));
            assert_eq!(definition["properties"]["next"]["description"], "Required.");
        }
        let mut optional = node(next);
        optional["required"] = json!(["name"]);
        assert_eq!(fitted(optional.clone(), OptionalMembers), (optional, vec![]));
    }
}

#[test]
fn a_loop_without_a_property_is_cut_off() {
    let lists = json!({"type": "array", "items": {"$ref": "#/$defs/T"}});
    assert_eq!(fitted(lists.clone(), LoopExits::EmptyParts), (lists.clone(), vec![]));
    let cut = json!({"type": "array", "description": "Built like `T`, inside which it stands."});
    assert_eq!(
        fitted(lists, LoopExits::OptionalMembers),
        (json!({"type": "array", "items": cut}), vec!["$ref at /$defs/T/items".to_owned()])
    );
    let (itself, losses) = fitted(json!({"$ref": "#/$defs/T"}), LoopExits::EmptyParts);
    assert_eq!(itself, json!({"description": "Built like `T`, inside which it stands."}));
    assert_eq!(losses, ["$ref at /$defs/T"]);
}

#[test]
fn a_long_chain_of_references_ends() {
    let mut definitions: Map<String, Value> = (0..3_000)
        .map(|number| (number.to_string(), node(&json!({"$ref": format!("#/$defs/{}", number + 1)}))))
        .collect();
    definitions.insert("3000".to_owned(), node(&json!({"$ref": "#/$defs/0"})));
    let mut schema = json!({"$ref": "#/$defs/0", "$defs": definitions});
    let losses = fit_references(&mut schema, LoopExits::EmptyParts);
    assert_eq!(losses.len(), 3_001);
}

/// Returns whether a value of a schema needs one of a schema in `open`, by parts that it cannot lack.
fn closes(root: &Value, schema: &Value, exits: LoopExits, open: &mut Vec<*const Value>) -> bool {
    if open.contains(&ptr::from_ref(schema)) {
        return true;
    }
    open.push(schema);
    let reference = schema.get("$ref").and_then(Value::as_str).and_then(|reference| target(root, reference));
    let mut is_closed = reference.is_some_and(|target| closes(root, target, exits, open));
    for inside in subschemas(schema).filter(|inside| inside.role != Role::Definitions) {
        let required = schema["required"].as_array().into_iter().flatten();
        let is_needed = match inside.keyword {
            "properties" => required.into_iter().any(|name| name.as_str() == inside.key.as_deref()),
            "items" => exits == LoopExits::OptionalMembers,
            keyword => !keyword.ends_with("Properties"),
        };
        is_closed |= is_needed && closes(root, inside.schema, exits, open);
    }
    open.pop();
    is_closed
}

proptest! {
    #[test]
    fn no_loop_of_references_is_left_that_the_provider_refuses(
        definitions in prop::collection::vec((schema(), any::<bool>()), 3),
        values in prop::collection::vec(value(), 12),
        exits in select(vec![LoopExits::OptionalMembers, LoopExits::EmptyParts]),
    ) {
        let [a, object, word] = ["A", "Object", "Word"];
        let mut schema = json!({"$ref": "#/$defs/Object", "$defs": {}});
        for (name, (inner, is_required)) in [a, object, word].into_iter().zip(definitions) {
            let required = if is_required { json!(["a"]) } else { json!([]) };
            schema["$defs"][name] = json!({"properties": {"a": inner}, "required": required});
        }
        // The validator takes no reference that leads to itself at once.
        let before = jsonschema::draft202012::new(&schema);
        let losses = fit_references(&mut schema, exits);
        prop_assert!(is_isolated(&schema), "{}", schema);
        prop_assert!(!closes(&schema, &schema, exits, &mut Vec::new()), "{}", schema);
        let (Ok(before), Ok(after)) = (before, jsonschema::draft202012::new(&schema)) else { return Ok(()) };
        for value in &values {
            let is_valid = before.is_valid(value);
            prop_assert!(!is_valid || after.is_valid(value), "{} {}", value, schema);
            prop_assert!(!losses.is_empty() || is_valid == after.is_valid(value), "{} {}", value, schema);
        }
        let once = schema.clone();
        prop_assert_eq!(fit_references(&mut schema, exits), vec![]);
        prop_assert_eq!(once, schema);
    }
}
