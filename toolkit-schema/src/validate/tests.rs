//! Tests of the messages about values and about schemas.

use super::*;
use serde_json::json;

#[track_caller]
fn check(schema: &Value, value: &Value, expected: &[&str]) {
    let compiled = CompiledSchema::new(schema).unwrap();
    let found = compiled.violations(value).into_iter();
    let found: Vec<String> =
        found.map(|violation| format!("{}: {}", violation.path, violation.message)).collect();
    assert_eq!(found, expected);
    assert_eq!(compiled.is_valid(value), expected.is_empty());
}

#[test]
fn every_violation_is_reported_with_its_path() {
    let schema = json!({"type": "object", "required": ["a", "b"], "additionalProperties": false, "properties": {
        "a": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "b": {"enum": ["x", "y"]},
        "0": {"$ref": "#/$defs/range"},
    }, "$defs": {"range": {"type": "object", "properties": {"max": {"type": "number", "exclusiveMaximum": 5}}}}});
    check(&schema, &json!({"a": [1, 2.0], "b": "x"}), &[]);
    check(
        &schema,
        &json!({"a": [1, -1, "2"], "c/d": 1, "0": {"max": 5}}),
        &[
            "a[1]: expected integer of at least 0, got number -1",
            "a[2]: expected integer of at least 0, got string \"2\"",
            "c/d: there is no such property; use `a` or `b` or `0`",
            "0.max: expected number, less than 5, got number 5",
            "b: required, but missing; expected one of \"x\", \"y\"",
        ],
    );
}

/// Tests each keyword alone, so that no message is another's.
#[test]
fn every_keyword_has_a_message() {
    for (schema, value, expected) in [
        (json!({"type": ["string", "null"]}), json!(1), ": expected string or null, got number 1"),
        (json!({"const": 1}), json!(2), ": expected 1, got number 2"),
        (json!({"minimum": 1}), json!(0), ": expected at least 1, got number 0"),
        (json!({"multipleOf": 2}), json!(3), ": expected a multiple of 2, got number 3"),
        (json!({"minLength": 2}), json!("a"), ": expected at least 2 characters, got string \"a\""),
        (json!({"pattern": "^b"}), json!("a"), ": expected matching `^b`, got string \"a\""),
        (json!({"maxItems": 1}), json!([1, 2]), ": expected at most 1 item, got array [1,2]"),
        (json!({"minProperties": 1}), json!({}), ": expected at least 1 member, got object {}"),
        (json!({"uniqueItems": true}), json!([1, 1]), ": expected array whose items differ, got array [1,1]"),
        (
            json!({"contains": {"type": "string"}}),
            json!([1]),
            ": expected array with string among its items, got array [1]",
        ),
        (json!({"not": {"type": "null"}}), json!(null), ": expected anything else than null, got null"),
        (json!({"properties": {"a": false}}), json!({"a": 1}), "a: nothing may stand here"),
        (
            json!({"propertyNames": {"maxLength": 1}}),
            json!({"ab": 1}),
            "ab: this name is not allowed; expected at most 1 character",
        ),
        (json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1}), "b: required, but missing"),
        (
            json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            json!(1),
            ": expected a value that fits exactly one of the alternatives, got number 1",
        ),
        (
            json!({"$ref": "#/$defs/a", "maxLength": 1, "$defs": {"a": {"type": "string"}}}),
            json!("ab"),
            ": expected at most 1 character, got string \"ab\"",
        ),
        (json!({"unevaluatedProperties": false}), json!({"a": 1}), "a: there is no such property"),
        (json!({"prefixItems": [true], "items": false}), json!([1, 2]), "[1]: nothing may stand here"),
    ] {
        check(&schema, &value, &[expected]);
    }
}

#[test]
fn the_branch_that_the_value_resembles_is_explained() {
    let schema = json!({"properties": {"shape": {"oneOf": [
        {"type": "object", "required": ["kind", "radius"], "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}},
        {"type": "object", "required": ["kind", "side"], "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}},
    ]}}});
    check(&schema, &json!({"shape": {"kind": "square", "side": 1}}), &[]);
    check(
        &schema,
        &json!({"shape": {"kind": "square", "side": "1"}}),
        &["shape.side: expected number, got string \"1\""],
    );
    check(
        &schema,
        &json!({"shape": {"kind": "line"}}),
        &[r#"shape.kind: expected one of "circle", "square", got string "line""#],
    );
}

#[test]
fn the_number_of_violations_is_bounded_and_recursion_ends() {
    let schema = json!({"type": "array", "items": {"type": "integer"}});
    let value = Value::from(vec!["x"; 1_000]);
    assert_eq!(CompiledSchema::new(&schema).unwrap().violations(&value).len(), 64);
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}], "type": "integer"}),
        json!({"anyOf": [{"$ref": "#"}, {"type": "integer"}]}),
        json!({"type": "array", "items": {"$ref": "#"}}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
    ] {
        let compiled = CompiledSchema::new(&schema).unwrap();
        let value = json!([["x"]]);
        assert_eq!(compiled.is_valid(&value), compiled.violations(&value).is_empty(), "{schema}");
    }
}

#[track_caller]
fn wrong(schema: &Value, expected: &[(&str, &str)]) {
    let found = CompiledSchema::new(schema).unwrap_err();
    let found: Vec<(&str, &str)> =
        found.iter().map(|fault| (fault.path.as_str(), fault.message.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_mistake_in_a_schema_is_reported() {
    wrong(
        &json!({"type": "objct", "properties": {"a": {"type": "string", "minLength": -1}, "b": 5}}),
        &[
            ("#/properties/a/minLength", "expected a number of at least 0, got number -1"),
            ("#/properties/b", "expected boolean or object, got number 5"),
            (
                "#/type",
                r#"expected one of "array", "boolean", "integer", "null", "number", "object", "string" or array, got string "objct""#,
            ),
        ],
    );
    wrong(&json!("string"), &[("#", "expected boolean or object, got string \"string\"")]);
    wrong(
        &json!({"pattern": "("}),
        &[(
            "#/pattern",
            "arguments cannot be checked against the pattern `(`; write it shorter and without look-around and classes of Unicode, or turn on the feature `jsonschema`",
        )],
    );
    wrong(
        &json!({"$schema": "https://example.com/own", "type": "object"}),
        &[(
            "#",
            "Unknown meta-schema: 'https://example.com/own'. Custom meta-schemas must be registered in the registry before use",
        )],
    );
}

#[test]
fn references_to_other_documents_are_refused() {
    let fetched = "is another document, and nothing is fetched; put what is referred to into `$defs`";
    for reference in ["https://example.com/a.json#/$defs/b", "file:///etc/passwd"] {
        wrong(
            &json!({"properties": {"a/b": {"items": {"$ref": reference}}}}),
            &[("#/properties/a~1b/items/$ref", &format!("`{reference}` {fetched}"))],
        );
    }
    wrong(&json!({"allOf": [{"$ref": "#/$defs/none"}]}), &[("#/allOf/0/$ref", "there is no `#/$defs/none`")]);
}

#[test]
fn older_drafts_are_recognized_by_their_name() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"n": {"type": "integer"}}, "items": [{"$ref": "#/definitions/n"}],
    });
    check(&schema, &json!(["x"]), &["[0]: expected integer, got string \"x\""]);
}

#[test]
fn a_value_that_could_exhaust_the_stack_of_the_validator_is_not_valid() {
    let schema = CompiledSchema::new(&json!({"items": {"$ref": "#"}})).unwrap();
    let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    assert!(schema.is_valid(&nested(127)));
    assert!(!schema.is_valid(&nested(128)));
    assert_eq!(schema.violations(&nested(128)).len(), 1);
}

#[test]
fn the_explanation_of_a_schema_that_refers_to_itself_twice_ends() {
    let below = json!({"properties": {"a": {"$dynamicRef": "#"}}});
    let schema = json!({"allOf": [below, below], "$comment": "#", "if": {"type": "null"}, "then": false});
    let value = (0..100).fold(json!(null), |inner, _| json!({"a": inner}));
    let found = CompiledSchema::new(&schema).unwrap().violations(&value);
    assert_eq!(found[0].message, "the value does not conform to the schema");
}

#[test]
fn the_validator_checks_the_formats_of_the_contract_and_no_others() {
    let valid = |schema: Value, value: &str| CompiledSchema::new(&schema).unwrap().is_valid(&json!(value));
    let one_of = json!({"oneOf": [{"format": "date"}, {"type": "string"}]});
    assert!(valid(one_of.clone(), "soon"));
    assert!(!valid(one_of, "2026-01-31"));
    assert!(!valid(json!({"format": "email"}), "name"));
    assert!(valid(json!({"format": "regex"}), "("));
}
