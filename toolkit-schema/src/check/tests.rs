//! Tests of violations, their order and their number.

use super::*;
use serde_json::json;

#[track_caller]
fn check(schema: &Value, value: &Value, expected: &[&str]) {
    let found = violations(schema, value).into_iter();
    let found: Vec<String> =
        found.map(|violation| format!("{}: {}", violation.path, violation.message)).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_violation_is_found_and_valid_values_have_none() {
    let schema = json!({"type": "object", "required": ["a", "b"], "additionalProperties": false, "properties": {
        "a": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "b": {"enum": ["x", "y"]},
        "c": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "minItems": 2, "maxItems": 2},
    }});
    check(&schema, &json!({"a": [1], "b": "x", "c": ["", true]}), &[]);
    check(
        &schema,
        &json!({"a": [1, -1, "2"], "d": 1, "c": ["", 0, 1]}),
        &[
            "a[1]: expected integer of at least 0, got number -1",
            "a[2]: expected integer of at least 0, got string \"2\"",
            "d: there is no such property; use `a` or `b` or `c`",
            "c: expected array of 2 items, got array [\"\",0,1]",
            "c[1]: expected boolean, got number 0",
            "b: required, but missing; expected one of \"x\", \"y\"",
        ],
    );
}

#[test]
fn the_branch_that_the_value_resembles_is_explained() {
    let schema = json!({"oneOf": [
        {"type": "object", "required": ["kind", "radius"], "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}},
        {"type": "object", "required": ["kind", "side"], "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}},
    ]});
    check(&schema, &json!({"kind": "square", "side": 1}), &[]);
    check(&schema, &json!({"kind": "square", "side": "1"}), &["side: expected number, got string \"1\""]);
    check(
        &schema,
        &json!({"kind": "line"}),
        &[r#"kind: expected one of "circle", "square", got string "line""#],
    );
    let schema = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
    check(&schema, &json!([]), &[": expected string or integer, got array []"]);
}

#[test]
fn recursion_follows_the_value_and_ends_with_it() {
    let schema = json!({
        "$ref": "#/$defs/Node",
        "$defs": {"Node": {"type": "object", "properties": {
            "next": {"$ref": "#/$defs/Node"}, "value": {"type": "integer"},
        }}},
    });
    check(
        &schema,
        &json!({"next": {"next": {"value": "x"}}}),
        &["next.next.value: expected integer, got string \"x\""],
    );
    check(&json!({"$ref": "#"}), &json!(1), &[]);
    let itself = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}], "type": "integer"});
    check(&itself, &json!("x"), &[": expected integer, got string \"x\""]);
    check(&itself, &json!(1), &[]);
    let choice = json!({"anyOf": [{"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}]});
    check(&choice, &json!([[1]]), &[]);
}

#[test]
fn members_and_items_are_evaluated_by_the_schemas_that_apply() {
    let no_property = &["a: there is no such property"][..];
    let a = json!({"properties": {"a": {}}});
    for (mut schema, expected) in [
        (json!({"then": a}), no_property),
        (json!({"else": a}), no_property),
        (json!({"if": {"required": ["b"]}, "then": a}), no_property),
        (json!({"if": {}, "then": a}), &[]),
        (json!({"if": a}), &[]),
        (json!({"if": {"required": ["b"]}, "else": a}), &[]),
        (json!({"dependentSchemas": {"b": a}}), no_property),
        (json!({"dependentSchemas": {"a": a}}), &[]),
    ] {
        schema["unevaluatedProperties"] = false.into();
        check(&schema, &json!({"a": 1}), expected);
    }
    let found_elsewhere = json!({"allOf": [{"contains": {"type": "integer"}}], "unevaluatedItems": false});
    check(&found_elsewhere, &json!([1]), &[]);
}

#[test]
fn keywords_beside_a_reference_count_within_a_chain_of_references() {
    let schema = json!({
        "$ref": "#/$defs/Small",
        "$defs": {"Small": {"$ref": "#/$defs/Number", "maximum": 9}, "Number": {"type": "integer"}},
    });
    check(&schema, &json!(10), &[": expected at most 9, got number 10"]);
}

#[test]
fn the_number_of_violations_is_bounded() {
    let schema = json!({"type": "array", "items": {"type": "integer"}});
    let value = Value::from(vec!["x"; 1_000]);
    assert_eq!(violations(&schema, &value).len(), MOST);
}
