//! Isolated references, compared with the original schemas by a validator.

#![cfg(feature = "jsonschema")]

use super::isolate_references;
use crate::keyword::subschemas;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

/// Generates a `$ref` beside any of the other keywords.
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
