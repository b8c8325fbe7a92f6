//! Tests of near misses, and the work to coerce them.

use super::*;
use serde_json::json;

#[test]
fn only_values_that_do_not_fit_are_coerced() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "array", "items": {"type": "integer"}},
        "b": {"type": "number"},
        "e": {"type": ["boolean", "null"]},
        "f": {"type": "string"},
        "c": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"n": {"type": "integer"}}}]},
    }});
    let mut value =
        json!({"a": [1.0, -0.0, 2.5, 3], "b": 1.0, "c": {"n": "4.0"}, "d": 1.0, "e": "true", "f": "1"});
    assert!(coerce(&schema, &mut value));
    assert_eq!(value.to_string(), r#"{"a":[1,0,2.5,3],"b":1.0,"c":{"n":4},"d":1.0,"e":true,"f":"1"}"#);
    assert!(!coerce(&schema, &mut value));
}

#[test]
fn a_union_that_holds_itself_ends() {
    let schema = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}, {"type": "integer"}]});
    let mut value = json!([["5"], 1.0]);
    assert!(coerce(&schema, &mut value));
    assert_eq!(value, json!([[5], 1]));
}

#[test]
fn null_is_removed_from_optional_members_that_are_never_null() {
    let schema = json!({"type": "object", "required": ["must"], "properties": {
        "must": {"type": "integer"},
        "may": {"type": "integer"},
        "null": {"type": ["integer", "null"]},
        "inner": {"type": "array", "items": {"type": "object", "properties": {"may": {"enum": ["a"]}}}},
        "any": true,
    }});
    let mut value = json!({
        "must": null, "may": null, "null": null, "inner": [{"may": null}], "any": null, "unknown": null,
    });
    assert!(coerce(&schema, &mut value));
    let expected = json!({"must": null, "null": null, "inner": [{}], "any": null, "unknown": null});
    assert_eq!(value, expected);
    assert!(!coerce(&schema, &mut value));
}

/// Counts steps, because time depends on the machine.
#[test]
fn near_misses_at_every_depth_are_coerced_within_the_budget() {
    let of = |name: &str, value: Value| json!({"type": "object", "required": [name], "additionalProperties": false, "properties": {name: value}});
    let tagged = |tag: &str, name: &str, value: Value| json!({"type": "object", "required": ["op", name], "properties": {"op": {"const": tag}, name: value}});
    let itself = json!({"$ref": "#"});
    let integer = json!({"type": "integer"});
    let by_member = json!({"anyOf": [
        {"type": "object", "properties": {"c": itself, "v": {"type": "integer"}}, "required": ["c"]},
        {"type": "object", "properties": {"c": itself, "v": {"type": "boolean"}}, "required": ["v"]},
    ]});
    for (schema, around, leaf, expected) in [
        (json!({"anyOf": [integer, {"type": "array", "items": itself}]}), "[@]", r#""1""#, "1"),
        (
            json!({"anyOf": [integer, {"type": "array", "prefixItems": [itself, itself]}]}),
            r#"[@,"1"]"#,
            r#""1""#,
            "1",
        ),
        (
            json!({"oneOf": [of("Neg", itself.clone()), of("Num", integer.clone())]}),
            r#"{"Neg":@}"#,
            r#"{"Num":"1"}"#,
            r#"{"Num":1}"#,
        ),
        (
            json!({"oneOf": [tagged("neg", "e", itself.clone()), tagged("num", "v", integer.clone())]}),
            r#"{"op":"neg","e":@}"#,
            r#"{"op":"num","v":"1"}"#,
            r#"{"op":"num","v":1}"#,
        ),
        (by_member, r#"{"c":@,"v":"1"}"#, r#"{"v":"true"}"#, r#"{"v":true}"#),
    ] {
        for depth in [5, 30, 120] {
            let text = (0..depth).fold(leaf.to_owned(), |inner, _| around.replace('@', &inner));
            let value = Json::parse(&text).unwrap();
            let checks = Checks::foreign(&schema);
            let mut coercion = Coercion::new(&checks, &value);
            let found = coercion.coerced(&schema, &value).unwrap();
            assert!(found.contains(expected) && !found.contains(leaf), "{schema} {depth}: {found}");
            assert!(coercion.left > 0, "{schema} {depth}: {} left", coercion.left);
        }
    }
    let items = vec!["7"; 4_000].join(",");
    let list = json!({"type": "array", "items": {"oneOf": [
        tagged("neg", "e", integer.clone()), tagged("num", "v", integer),
    ]}});
    let text = format!("[{items}]");
    let value = Json::parse(&text).unwrap();
    let checks = Checks::foreign(&list);
    let mut coercion = Coercion::new(&checks, &value);
    assert_eq!(coercion.coerced(&list, &value), None);
    assert!(coercion.left > budget(&value) / 4, "{} left", coercion.left);
}

#[test]
fn a_number_that_becomes_a_string_and_again_a_number_stays() {
    let schema = json!({"type": "integer", "anyOf": [{"type": "string"}]});
    let mut value = json!(5);
    assert!(!coerce(&schema, &mut value));
    assert_eq!(value, json!(5));
}
