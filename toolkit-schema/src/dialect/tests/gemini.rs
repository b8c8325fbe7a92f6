//! Tests of Gemini's subset, and of schemas of any size.

use super::{ALL, losses, property};
use crate::SchemaDialect::{self, Gemini, OpenAi, OpenAiStrict};
use serde_json::{Value, json};

#[track_caller]
fn check(schema: &Value, expected: &Value, lost: &[&str]) {
    let (written, found) = property(Gemini, schema);
    assert_eq!(written, *expected);
    assert_eq!(found, lost);
}

#[test]
fn gemini_schemas_use_geminis_keywords() {
    check(
        &json!({"type": ["string", "null"], "default": "x"}),
        &json!({"type": "string", "default": "x", "nullable": true}),
        &[],
    );
    check(&json!({"const": "circle"}), &json!({"type": "string", "enum": ["circle"]}), &[]);
    check(
        &json!({"type": "integer", "enum": [1, 2]}),
        &json!({"type": "integer", "description": "One of 1, 2."}),
        &["enum at /properties/p"],
    );
    check(
        &json!({"type": ["string", "integer"]}),
        &json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        &[],
    );
    check(
        &json!({"type": "string", "format": "email"}),
        &json!({"type": "string", "description": "In the format email, as in name@example.com."}),
        &["format at /properties/p"],
    );
    check(
        &json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        &json!({"type": "object", "description": "Any other member is integer."}),
        &["additionalProperties at /properties/p"],
    );
    check(
        &json!({"type": "array", "items": [{"type": "number"}, {"type": "string"}], "additionalItems": false}),
        &json!({
            "type": "array",
            "description": "The items are, in this order: number, string.",
            "items": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            "maxItems": 2,
        }),
        &["prefixItems at /properties/p"],
    );
    check(
        &json!({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"type": "string"}}}]}),
        &json!({"type": "object", "properties": {"a": {"type": "string"}}, "nullable": true}),
        &[],
    );
}

#[test]
fn exclusive_bounds_of_integers_become_inclusive() {
    check(
        &json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10}),
        &json!({"type": "integer", "minimum": 1, "maximum": 9}),
        &[],
    );
    check(
        &json!({"type": "number", "exclusiveMinimum": 0}),
        &json!({"type": "number", "description": "Greater than 0."}),
        &["exclusiveMinimum at /properties/p"],
    );
    check(
        &json!({"type": "integer", "minimum": 5, "exclusiveMinimum": 0}),
        &json!({"type": "integer", "minimum": 5, "description": "Greater than 0."}),
        &["exclusiveMinimum at /properties/p"],
    );
}

#[test]
fn gemini_gets_no_empty_values() {
    let text = |description: &str| json!({"type": "string", "description": description});
    check(
        &json!({"type": "string", "enum": ["", "a"]}),
        &text("One of \"\", \"a\"."),
        &["enum at /properties/p"],
    );
    check(&json!({"const": ""}), &text("One of \"\"."), &["const at /properties/p"]);
    check(
        &json!({"anyOf": [{"const": "a"}, {"enum": [""]}]}),
        &json!({"anyOf": [{"type": "string", "enum": ["a"]}, text("One of \"\".")]}),
        &["enum at /properties/p/anyOf/1"],
    );
    let converted = Gemini.convert(&super::with(&json!({"enum": ["a", ""]})));
    let reason = "the provider takes no `\"\"` there; the description lists the values";
    assert_eq!(converted.losses[0].reason, reason);
}

#[test]
fn a_described_list_of_values_keeps_the_bounds_beside_it() {
    check(
        &json!({"type": "integer", "enum": [2, 3, 4], "multipleOf": 2}),
        &json!({"type": "integer", "description": "A multiple of 2.\nOne of 2, 4."}),
        &["enum at /properties/p", "multipleOf at /properties/p"],
    );
}

#[test]
fn the_items_after_a_tuple_are_taken_like_the_listed_ones() {
    check(
        &json!({"type": "array", "items": [{"type": "number"}, {"type": "string"}]}),
        &json!({
            "type": "array",
            "description": "The items are, in this order: number, string.",
            "items": {"anyOf": [{"type": "number"}, {"type": "string"}]},
        }),
        &["prefixItems at /properties/p", "items at /properties/p"],
    );
}

#[test]
fn gemini_gets_no_closed_objects() {
    let converted =
        Gemini.convert(&json!({"type": "object", "properties": {}, "additionalProperties": false}));
    assert_eq!(converted.schema, json!({"type": "object"}));
    assert_eq!(converted.losses, []);
}

#[test]
fn a_property_without_valid_values_is_left_out_of_an_open_object_with_a_loss() {
    for never in [json!(false), json!({"not": {}})] {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "none": never}});
        let converted = Gemini.convert(&schema);
        assert_eq!(converted.schema, json!({"type": "object", "properties": {"a": {"type": "string"}}}));
        assert_eq!(losses(&converted.losses), ["type at /properties/none"]);
        assert_eq!(OpenAiStrict.convert(&schema).losses, []);
    }
}

#[test]
fn gemini_gets_recursion_cut_off() {
    let converted = Gemini.convert(&json!({
        "type": "object",
        "properties": {"t": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}},
    }));
    assert_eq!(losses(&converted.losses), ["$ref at /$defs/T/properties/t"]);
    let inner = &converted.schema["properties"]["t"]["properties"]["t"];
    assert_eq!(*inner, json!({"type": "object", "description": "Built like `T`, inside which it stands."}));
}

/// Checks that every conversion ends, with fewer than `most` bytes.
#[track_caller]
fn stays_small(schema: &Value, most: usize) {
    for dialect in ALL.into_iter().filter(|dialect| *dialect != SchemaDialect::JsonSchema) {
        let written = dialect.convert(schema).schema.to_string().len();
        assert!(written < most, "{dialect:?}: {written}");
    }
}

#[test]
fn many_references_give_a_small_schema() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/L{}", level + 1)});
        let name = format!("L{level}");
        definitions.insert(name, json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    definitions.insert("L40".to_owned(), json!({"type": "string"}));
    let schema = json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/L0"}}, "$defs": definitions});
    stays_small(&schema, 4_000_000);
    let kept = OpenAi.convert(&schema);
    assert_eq!(kept.losses, []);
    assert_eq!(kept.schema["$defs"].as_object().unwrap().len(), 41);
    assert!(OpenAiStrict.convert(&schema).narrowed.is_some());
    let all: Vec<Value> = (0..30).map(|_| json!({"$ref": "#/$defs/L0"})).collect();
    let mut merged = schema;
    merged["properties"]["q"] =
        json!({"allOf": all, "anyOf": [{"$ref": "#/$defs/L1"}, {"$ref": "#/$defs/L2"}]});
    stays_small(&merged, 8_000_000);
}

#[test]
fn recursion_gives_a_small_schema() {
    let names: Vec<String> = (0..30).map(|index| format!("N{index}")).collect();
    let properties: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({"$ref": format!("#/$defs/{name}")}))).collect();
    let definitions: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| (name.clone(), json!({"type": "object", "properties": properties})))
        .collect();
    stays_small(&json!({"type": "object", "properties": properties, "$defs": definitions}), 4_000_000);
    let itself = json!({"$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"anyOf": [{"$ref": "#/$defs/A"}]}]}}, "$ref": "#/$defs/A"});
    stays_small(&itself, 10_000);
}

#[test]
fn depth_does_not_overflow_the_stack() {
    for wrap in [
        |inside: Value| json!({"type": "object", "properties": {"a": inside}}),
        |inside: Value| json!({"allOf": [inside]}),
        |inside: Value| json!({"anyOf": [inside, {"type": "null"}]}),
        |inside: Value| json!({"not": inside}),
        |inside: Value| json!({"type": "array", "items": inside}),
    ] {
        let mut deep = json!({"type": "string"});
        for _ in 0..200 {
            deep = wrap(deep);
        }
        let schema = json!({"type": "object", "properties": {"p": deep}});
        stays_small(&schema, 100_000);
        for dialect in [OpenAi, OpenAiStrict, Gemini] {
            assert!(!dialect.convert(&schema).losses.is_empty());
        }
    }
}
