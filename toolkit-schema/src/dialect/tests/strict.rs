//! Tests of the strict dialects.

use super::{losses, property, with};
use crate::SchemaDialect::{self, AnthropicStrict, Gemini, OpenAiStrict};
use serde_json::{Value, json};

#[track_caller]
fn check(dialect: SchemaDialect, schema: &Value, expected: &Value, lost: &[&str]) {
    let (written, found) = property(dialect, schema);
    assert_eq!(written, *expected);
    assert_eq!(found, lost);
}

#[track_caller]
fn forbids(schema: &Value, dialects: &[SchemaDialect]) {
    for dialect in [OpenAiStrict, AnthropicStrict] {
        let narrowed = dialect.convert(&with(schema)).narrowed;
        assert_eq!(narrowed.is_some(), dialects.contains(&dialect), "{dialect:?}: {narrowed:?}");
    }
}

#[test]
fn openai_requires_every_property_and_takes_null_for_optional_ones() {
    let converted = OpenAiStrict.convert(&json!({
        "type": "object",
        "properties": {
            "must": {"type": "string"},
            "text": {"type": "string", "description": "D."},
            "unit": {"type": "string", "enum": ["c", "f"]},
            "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
            "null": {"type": ["integer", "null"]},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["must"],
    }));
    let object = json!({
        "type": "object",
        "properties": {"n": {"type": ["integer", "null"]}},
        "required": ["n"],
        "additionalProperties": false,
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "must": {"type": "string"},
            "text": {"type": ["string", "null"], "description": "D."},
            "unit": {"anyOf": [{"type": "string", "enum": ["c", "f"]}, {"type": "null"}]},
            "list": {"anyOf": [{"type": "array", "items": object}, {"type": "null"}]},
            "null": {"type": ["integer", "null"]},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        },
        "required": ["must", "text", "unit", "list", "null", "either"],
        "additionalProperties": false,
    });
    assert_eq!(converted.schema, expected);
    assert_eq!(losses(&converted.losses), Vec::<String>::new());
}

#[test]
fn anthropic_keeps_optional_parameters_and_closes_objects() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"], "enum": ["x", null]}}, "required": ["a"]});
    let converted = AnthropicStrict.convert(&schema);
    assert_eq!(
        converted.schema,
        json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"enum": ["x", null]}},
            "required": ["a"],
            "additionalProperties": false,
        })
    );
    assert_eq!(converted.losses, []);
}

#[test]
fn unsupported_keywords_move_into_the_description() {
    check(
        OpenAiStrict,
        &json!({"type": "array", "items": {"type": "string", "minLength": 2}, "maxItems": 5, "uniqueItems": true, "description": "Tags."}),
        &json!({"type": "array", "description": "Tags.\nNo item twice.", "items": {"type": "string", "description": "At least 2 characters."}, "maxItems": 5}),
        &["minLength at /properties/p/items", "uniqueItems at /properties/p"],
    );
    check(
        AnthropicStrict,
        &json!({"type": "integer", "minimum": 1, "maximum": 10, "default": 5}),
        &json!({"type": "integer", "description": "At least 1; at most 10.\nBy default 5."}),
        &["default at /properties/p", "minimum at /properties/p", "maximum at /properties/p"],
    );
    check(
        OpenAiStrict,
        &json!({"type": "string", "pattern": "^(?!a)", "not": {"const": "b"}, "format": "uri"}),
        &json!({"type": "string", "description": "Matching `^(?!a)`; in the format uri, as in https://example.com/page.\nNot \"b\"."}),
        &["not at /properties/p", "pattern at /properties/p", "format at /properties/p"],
    );
}

#[test]
fn strict_unions_are_any_of() {
    let tagged =
        |tag: &str| json!({"type": "object", "properties": {"t": {"const": tag}}, "required": ["t"]});
    let written = |tag: &str| json!({"type": "object", "properties": {"t": {"const": tag}}, "required": ["t"], "additionalProperties": false});
    check(
        AnthropicStrict,
        &json!({"oneOf": [tagged("a"), tagged("b")]}),
        &json!({"anyOf": [written("a"), written("b")]}),
        &[],
    );
    check(
        OpenAiStrict,
        &json!({"oneOf": [{"type": "number"}, {"type": "integer"}]}),
        &json!({"anyOf": [{"type": "number"}, {"type": "integer"}]}),
        &["oneOf at /properties/p"],
    );
    // Keywords beside a union apply to each branch.
    check(
        OpenAiStrict,
        &json!({"type": "number", "minimum": 1, "anyOf": [{"maximum": 5}, {"multipleOf": 10}], "description": "D."}),
        &json!({"description": "D.", "anyOf": [
            {"type": "number", "maximum": 5, "minimum": 1}, {"type": "number", "multipleOf": 10, "minimum": 1},
        ]}),
        &[],
    );
    check(
        AnthropicStrict,
        &json!({"type": ["string", "integer"], "minimum": 1}),
        &json!({"anyOf": [{"type": "string"}, {"type": "integer", "description": "At least 1."}]}),
        &["minimum at /properties/p"],
    );
}

#[test]
fn a_described_null_stays_null() {
    let described = json!({"type": "null", "description": "None."});
    check(OpenAiStrict, &described, &described, &[]);
    check(
        OpenAiStrict,
        &json!({"anyOf": [{"type": "string"}, described], "description": "D."}),
        &json!({"type": ["string", "null"], "description": "D.\n- `null`: None."}),
        &[],
    );
    check(
        AnthropicStrict,
        &json!({"anyOf": [{"const": "a"}, {"const": null, "title": "N", "description": "None."}]}),
        &json!({"enum": ["a", null], "description": "- `null`: None."}),
        &[],
    );
    check(
        Gemini,
        &json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, described, {"type": "null"}]}),
        &json!({"type": "array", "items": {"type": "string"}, "description": "- `null`: None.", "nullable": true}),
        &[],
    );
}

#[test]
fn values_outside_of_the_bounds_beside_them_are_not_listed() {
    let mixed = json!({"enum": [1, 5, "ab", "abc", null], "minimum": 3, "maxLength": 2});
    check(AnthropicStrict, &mixed, &json!({"enum": [5, "ab", null]}), &[]);
    check(
        OpenAiStrict,
        &mixed,
        &json!({"anyOf": [
            {"type": "string", "enum": ["ab"]}, {"type": "integer", "enum": [5]}, {"type": "null"},
        ]}),
        &[],
    );
    check(Gemini, &json!({"const": "a", "enum": ["a", "b"]}), &json!({"type": "string", "enum": ["a"]}), &[]);
    let converted = OpenAiStrict.convert(&with(&json!({"const": "a", "minLength": 2})));
    assert_eq!(converted.schema["properties"], json!({}));
    check(
        AnthropicStrict,
        &json!({"type": "integer", "enum": [1.0, 2], "minimum": 2}),
        &json!({"enum": [2]}),
        &[],
    );
}

#[test]
fn a_guessed_type_is_reported() {
    let both = [OpenAiStrict, AnthropicStrict];
    forbids(&json!({"minLength": 2}), &both);
    forbids(&json!({"type": "string", "minLength": 2}), &[]);
}

#[test]
fn openai_keeps_recursion_and_anthropic_gets_it_cut_off() {
    let tree = json!({
        "type": "object",
        "properties": {"t": {"$ref": "#/$defs/T", "description": "D."}},
        "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}},
    });
    let reference = json!({"$ref": "#/$defs/T"});
    let converted = OpenAiStrict.convert(&tree);
    assert_eq!(
        converted.schema,
        json!({
            "type": "object",
            "properties": {"t": {"description": "D.", "anyOf": [reference, {"type": "null"}]}},
            "required": ["t"],
            "additionalProperties": false,
            "$defs": {"T": {
                "type": "object",
                "properties": {"t": {"anyOf": [reference, {"type": "null"}]}},
                "required": ["t"],
                "additionalProperties": false,
            }},
        })
    );
    assert_eq!(converted.losses, []);
    let anthropic = AnthropicStrict.convert(&tree);
    assert_eq!(losses(&anthropic.losses)[0], "$ref at /$defs/T/properties/t");
    assert!(anthropic.narrowed.is_some());
}

#[test]
fn schemas_that_get_narrower_are_reported() {
    let both = [OpenAiStrict, AnthropicStrict];
    forbids(&json!({"type": "object", "additionalProperties": {"type": "string"}}), &both);
    forbids(&json!({"type": "object", "patternProperties": {"^a": {"type": "string"}}}), &both);
    forbids(
        &json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true}),
        &both,
    );
    forbids(&json!({"type": "object"}), &both);
    forbids(&json!({}), &both);
    forbids(&json!(true), &both);
    forbids(&json!({"type": "array"}), &[OpenAiStrict]);
    forbids(&json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}), &[]);
    forbids(&json!({"type": "array", "prefixItems": [{"type": "string"}]}), &both);
    forbids(&json!({"type": "string", "minLength": 3}), &[]);
    forbids(&json!({"type": "object", "properties": {"a": {"type": "string"}}}), &[]);
}
