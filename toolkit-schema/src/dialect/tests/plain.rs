//! Tests of the dialects without `strict`.

use super::{ALL, losses};
use crate::SchemaDialect::{Anthropic, AnthropicStrict, Gemini, Inlined, JsonSchema, OpenAi, OpenAiStrict};
use serde_json::{Value, json};

#[track_caller]
fn check(schema: &Value, expected: &Value, lost: &[&str]) {
    for dialect in [Inlined, OpenAi, Anthropic] {
        let converted = dialect.convert(schema);
        let mut expected = expected.clone();
        if dialect != Anthropic {
            // OpenAI refuses parameters without `properties`.
            expected.as_object_mut().unwrap().entry("properties").or_insert(json!({}));
        }
        assert_eq!(converted.schema, expected);
        assert_eq!(losses(&converted.losses), lost);
        assert_eq!(dialect.convert(&converted.schema).schema, expected, "a second time");
    }
}

#[track_caller]
fn untouched(schema: &Value) {
    check(schema, schema, &[]);
}

#[test]
fn plain_dialects_keep_every_keyword() {
    untouched(&json!({
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "minLength": 1, "default": null, "x-order": 1},
            "b": {"oneOf": [{"type": "string", "const": "x"}, {"not": {"type": "string"}}]},
            "c": {"type": "array", "prefixItems": [{"type": "number"}], "items": {"not": {}}},
            "d": {"type": "object", "properties": {}, "patternProperties": {"^x": {"type": "string"}}},
            "e": {"if": {"minimum": 1}, "then": {"maximum": 3}},
        },
        "required": ["a"],
        "additionalProperties": false,
    }));
    let schema = json!({"type": "object", "properties": {}, "description": "None."});
    untouched(&schema);
    assert_eq!(OpenAi.convert(&schema).schema.to_string(), schema.to_string(), "the order");
}

#[test]
fn property_names_and_values_are_not_taken_for_keywords() {
    let names =
        ["title", "const", "default", "$ref", "properties", "type", "allOf", "$defs", "items", "required"];
    let properties: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    let value = json!({"$ref": "#/nowhere", "allOf": [{"type": "integer"}], "title": 1});
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "default": value,
        "examples": [value],
    });
    untouched(&schema);
    for dialect in ALL {
        let converted = dialect.convert(&schema);
        let written = converted.schema["properties"].as_object().unwrap();
        assert_eq!(written.keys().collect::<Vec<_>>(), names, "{dialect:?}");
        assert!(written.values().all(|property| property["type"] == "string"), "{dialect:?}");
    }
    let (values, _) = super::property(Anthropic, &json!({"enum": [value], "const": value}));
    assert_eq!(values, json!({"enum": [value], "const": value}));
}

#[test]
fn inlined_references_are_followed() {
    let check = |reference: &str, rest: Value| {
        let mut schema = json!({"type": "object", "properties": {"p": {"$ref": reference}}});
        for (keyword, value) in rest.as_object().unwrap() {
            schema[keyword] = value.clone();
        }
        let (written, lost) = {
            let converted = Inlined.convert(&schema);
            (converted.schema["properties"]["p"].clone(), losses(&converted.losses))
        };
        assert_eq!((written, lost), (json!({"type": "integer"}), vec![]), "{reference}");
    };
    let integer = json!({"type": "integer"});
    check("#/$defs/A", json!({"$defs": {"A": integer}}));
    check("#/definitions/A", json!({"definitions": {"A": integer}}));
    check("#/$defs/a~1b~0c", json!({"$defs": {"a/b~c": integer}}));
    check("#/components/schemas/A", json!({"components": {"schemas": {"A": integer}}}));
    check("#/$defs/A/$defs/B", json!({"$defs": {"A": {"$defs": {"B": integer}}}}));
    check("#/$defs/L/0", json!({"$defs": {"L": [integer]}}));
    check(
        "#/$defs/A",
        json!({"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"allOf": [{"$ref": "#/$defs/C"}]}, "C": integer}}),
    );
}

#[test]
fn inlined_references_inside_content_schemas_are_followed() {
    let schema = |content: Value| {
        let text =
            json!({"type": "string", "contentMediaType": "application/json", "contentSchema": content});
        json!({"type": "object", "properties": {"p": text}})
    };
    let mut referring = schema(json!({"$ref": "#/$defs/A"}));
    referring["$defs"] = json!({"A": {"type": "integer"}});
    let converted = Inlined.convert(&referring);
    assert_eq!((converted.schema, converted.losses), (schema(json!({"type": "integer"})), vec![]));
}

/// Returns definitions that each refer to the next twice, so that inlining doubles them.
fn doubling(steps: usize) -> Value {
    let pair =
        |next: String| json!({"type": "object", "properties": {"a": {"$ref": next}, "b": {"$ref": next}}});
    let mut definitions: serde_json::Map<String, Value> =
        (0..steps).map(|at| (format!("D{at}"), pair(format!("#/$defs/D{}", at + 1)))).collect();
    definitions.insert(format!("D{steps}"), json!({"type": "string", "description": "A leaf."}));
    json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/D0"}}, "$defs": definitions})
}

#[test]
fn openai_and_anthropic_keep_references() {
    let schema = doubling(9);
    for dialect in [OpenAi, Anthropic] {
        let converted = dialect.convert(&schema);
        assert_eq!((converted.schema, converted.losses), (schema.clone(), vec![]), "{dialect:?}");
    }
    let inlined = Inlined.convert(&schema).schema;
    assert!(!inlined.to_string().contains("$ref"));
    assert!(inlined.to_string().len() > 20 * schema.to_string().len());
    // Definitions of older drafts move to `$defs`, if used.
    let older = json!({
        "type": "object",
        "properties": {"p": {"$ref": "#/definitions/a~1b", "description": "D."}, "q": {"$ref": "#/definitions/a~1b"}},
        "definitions": {"a/b": {"type": "integer"}, "unused": {"type": "string"}},
    });
    let newer = json!({
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/a_1b", "description": "D."}, "q": {"$ref": "#/$defs/a_1b"}},
        "$defs": {"a_1b": {"type": "integer"}},
    });
    for dialect in [OpenAi, Anthropic] {
        let converted = dialect.convert(&older);
        assert_eq!((&converted.schema["properties"], &converted.losses), (&newer["properties"], &vec![]));
        assert_eq!(converted.schema["$defs"], newer["$defs"], "{dialect:?}");
    }
}

#[test]
fn references_without_a_target_are_reported() {
    for reference in ["#/$defs/None", "https://example.com/a.json", "other.json#/a", "#anchor"] {
        check(
            &json!({"type": "object", "properties": {"p": {"$ref": reference, "description": "D."}}}),
            &json!({"type": "object", "properties": {"p": {"description": "D."}}}),
            &["$ref at /properties/p"],
        );
    }
}

#[test]
fn recursion_stays_a_reference() {
    untouched(
        &json!({"type": "object", "properties": {"up": {"$ref": "#"}, "more": {"type": "array", "items": {"$ref": "#"}}}}),
    );
    untouched(&json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A", "description": "D."}},
        "$defs": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
            "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
        },
    }));
    check(
        &json!({"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}}}),
        &json!({
            "type": "object",
            "properties": {"t": {"$ref": "#/$defs/T"}},
            "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}},
        }),
        &[],
    );
    check(
        &json!({"type": "object", "properties": {"t": {"$dynamicRef": "#node", "description": "D."}}}),
        &json!({"type": "object", "properties": {"t": {"description": "D."}}}),
        &["$dynamicRef at /properties/t"],
    );
    check(&json!({"$ref": "#"}), &json!({"type": "object"}), &[]);
}

#[test]
fn all_of_is_merged_as_far_as_its_schemas_have_no_keyword_in_common() {
    check(
        &json!({"type": "object", "properties": {"p": {
            "description": "Outer.",
            "allOf": [
                {"type": ["integer", "string"], "minimum": 1, "description": "Inner."},
                {"type": "number", "minimum": 3, "maximum": 9},
                {"allOf": [{"enum": [1, 4, 5]}]},
            ],
        }}}),
        &json!({"type": "object", "properties": {"p": {
            "description": "Outer.\nInner.", "type": "integer", "minimum": 1, "maximum": 9, "enum": [1, 4, 5],
            "allOf": [{"minimum": 3}],
        }}}),
        &[],
    );
    // A closed object forbids the other's properties, so it is not merged.
    let closed = json!({"type": "object", "properties": {"p": {
        "properties": {"a": {"type": "string"}},
        "additionalProperties": false,
        "allOf": [{"properties": {"b": {"type": "string"}}}],
    }}});
    untouched(&closed);
    let patterns =
        json!({"type": "object", "properties": {"p": {"pattern": "a", "allOf": [{"pattern": "b"}]}}});
    untouched(&patterns);
}

#[test]
fn the_properties_of_all_schemas_in_all_of_are_united() {
    let schema = json!({
        "allOf": [
            {"$ref": "#/$defs/Base"},
            {"type": "object", "properties": {"kind": {"const": "file"}, "size": {"type": "integer"}}, "required": ["size"]},
        ],
        "$defs": {"Base": {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]}},
    });
    for dialect in [Inlined, OpenAi, OpenAiStrict, Anthropic, AnthropicStrict] {
        let converted = dialect.convert(&schema);
        let kind = json!({"type": "string", "const": "file"});
        let properties = match dialect {
            AnthropicStrict => json!({"kind": {"const": "file"}, "size": {"type": "integer"}}),
            _ => json!({"kind": kind, "size": {"type": "integer"}}),
        };
        assert_eq!(converted.schema["properties"], properties, "{dialect:?}");
        let required = converted.schema["required"].as_array().unwrap();
        assert!(required.contains(&json!("kind")) && required.contains(&json!("size")), "{dialect:?}");
        assert_eq!(converted.losses, [], "{dialect:?}");
    }
}

#[test]
fn older_drafts_are_converted_to_the_newest() {
    check(
        &json!({"type": "object", "properties": {
            "tuple": {"type": "array", "items": [{"type": "string"}], "additionalItems": false},
        }}),
        &json!({"type": "object", "properties": {
            "tuple": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"not": {}}},
        }}),
        &[],
    );
}

#[test]
fn a_long_all_of_is_merged_in_order() {
    let part = |at: usize| json!({"properties": {format!("p{at}"): {"type": "integer", "minimum": at}}, "required": [format!("p{at}")]});
    let parts: Vec<Value> = (0..1_000).map(part).collect();
    let schema = json!({"type": "object", "minProperties": 3, "allOf": parts});
    for dialect in [OpenAi, OpenAiStrict, Gemini] {
        let converted = dialect.convert(&schema).schema;
        let names: Vec<&String> = converted["properties"].as_object().unwrap().keys().collect();
        let expected: Vec<String> = (0..1_000).map(|at| format!("p{at}")).collect();
        assert_eq!(names, expected.iter().collect::<Vec<_>>(), "in their order");
        assert_eq!(converted["required"].as_array().unwrap().len(), 1_000);
    }
}

#[test]
fn invalid_schemas_and_keywords_are_reported() {
    check(
        &json!({"type": "object", "properties": {
            "a": {"type": "float", "description": "D."}, "b": {"minLength": -1, "required": true}, "c": "string",
        }, "required": ["a", "ghost"]}),
        &json!({"type": "object", "properties": {"a": {"description": "D."}, "b": {}, "c": {}}, "required": ["a"]}),
        &[
            "type at /properties/a",
            "minLength at /properties/b",
            "required at /properties/b",
            "type at /properties/c",
            "required at ",
        ],
    );
}

#[test]
fn the_root_becomes_an_object() {
    check(&json!({}), &json!({"type": "object"}), &[]);
    check(&json!(true), &json!({"type": "object"}), &[]);
    check(&json!({"type": ["object", "null"]}), &json!({"type": "object"}), &[]);
    check(
        &json!({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {}}, "required": ["a"]}]}),
        &json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
        &[],
    );
    check(
        &json!({"type": "array", "items": {"type": "number"}}),
        &json!({"type": "object", "description": "Meant as array of number."}),
        &["type at "],
    );
    check(
        &json!({"oneOf": [
            {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind"], "additionalProperties": false},
            {"properties": {"kind": {"const": "b"}}, "required": ["kind"], "additionalProperties": false},
        ]}),
        &json!({
            "type": "object",
            "properties": {"kind": {"enum": ["a", "b"]}, "x": {"type": "string"}},
            "required": ["kind"],
            "additionalProperties": false,
            "description": "The parameters are one of these sets: `kind` \"a\", `x` (optional); or `kind` \"b\".",
        }),
        &["oneOf at "],
    );
}

#[test]
fn openai_gets_items_of_every_array_and_properties_of_every_object() {
    let schema = json!({"type": "object", "properties": {
        "list": {"type": "array", "items": {"type": ["array", "null"]}},
        "tuple": {"type": "array", "prefixItems": [{"type": "object"}], "maxItems": 1},
        "either": {"anyOf": [{"type": "array"}, {"type": "string"}]},
        "map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/A"}},
        "any": {"minItems": 1},
    }, "$defs": {"A": {"type": "array", "unevaluatedItems": false}}});
    let written = |a: Value, definitions: Value| {
        let mut written = json!({"type": "object", "properties": {
            "list": {"type": "array", "items": {"type": ["array", "null"], "items": {}}},
            "tuple": {"type": "array", "prefixItems": [{"type": "object", "properties": {}}], "items": {}, "maxItems": 1},
            "either": {"anyOf": [{"type": "array", "items": {}}, {"type": "string"}]},
            "map": {"type": "object", "properties": {}, "additionalProperties": a},
            "any": {"minItems": 1},
        }});
        if let Value::Object(_) = definitions {
            written["$defs"] = definitions;
        }
        written
    };
    let list = json!({"type": "array", "items": {}});
    let expected = [
        (OpenAi, written(json!({"$ref": "#/$defs/A"}), json!({"A": list}))),
        (Inlined, written(list, Value::Null)),
    ];
    for (dialect, expected) in expected {
        let converted = dialect.convert(&schema);
        assert_eq!(converted.schema, expected, "{dialect:?}");
        assert_eq!(converted.losses.len(), 1, "{dialect:?}");
        assert_eq!(converted.losses[0].keyword, "unevaluatedItems");
    }
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({"items": deep});
    }
    assert_eq!(OpenAi.convert(&deep).schema, json!({"type": "object", "properties": {}}));
}

#[test]
fn only_members_without_a_name_have_boolean_schemas() {
    let schema = json!({"type": "object", "properties": {
        "any": true, "none": false,
        "list": {"type": "array", "prefixItems": [true], "items": false, "contains": true},
        "map": {"type": "object", "properties": {}, "additionalProperties": true},
        "not": {"not": true}, "either": {"anyOf": [{"type": "string"}, true]},
    }, "additionalProperties": false});
    let written = json!({"type": "object", "properties": {
        "any": {}, "none": {"not": {}},
        "list": {"type": "array", "prefixItems": [{}], "items": {"not": {}}, "contains": {}},
        "map": {"type": "object", "properties": {}, "additionalProperties": true},
        "not": {"not": {}}, "either": {"anyOf": [{"type": "string"}, {}]},
    }, "additionalProperties": false});
    check(&schema, &written, &[]);
    assert_eq!(JsonSchema.convert(&schema).schema, written);
    // Strict providers see no property without a valid value.
    for schema in [&schema, &written] {
        let converted = OpenAiStrict.convert(schema).schema;
        assert_eq!((converted["properties"].get("none"), converted["properties"].get("not")), (None, None));
    }
}

#[test]
fn the_json_schema_dialect_changes_only_the_type_of_the_root() {
    let recursive =
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"oneOf": [{"required": ["a"]}, {"$ref": "#"}]}}});
    for (schema, extra) in [(json!({}), json!({})), (json!(true), json!({})), (recursive.clone(), recursive)]
    {
        let converted = JsonSchema.convert(&schema);
        let mut typed = json!({"type": "object"});
        typed.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        assert_eq!((converted.schema, converted.losses), (typed, vec![]));
    }
    let nullable = json!({"type": ["null", "object"], "minProperties": 1});
    assert_eq!(JsonSchema.convert(&nullable).schema, json!({"type": "object", "minProperties": 1}));
    let array = JsonSchema.convert(&json!({"type": "array", "items": {"type": "number"}}));
    let meant = json!({"type": "object", "properties": {}, "description": "Meant as array of number."});
    assert_eq!(array.schema, meant);
    assert_eq!(array.losses[0].keyword, "type");
}
