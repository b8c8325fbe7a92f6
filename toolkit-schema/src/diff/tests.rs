//! Tests of every kind of change, and its effect on arguments and results.

use super::Compatibility::{Breaking, Compatible, Unchanged};
use super::{Compatibility, SchemaDiff};
use serde_json::{Value, json};

/// Compares two versions of the parameter `a` in both directions, and checks the effects and the explanation.
#[track_caller]
fn check(old: Value, new: Value, there: Compatibility, back: Compatibility, why: &str) {
    let object = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
    let (old, new) = (object(old), object(new));
    let diff = SchemaDiff::of_arguments(&old, &new);
    assert_eq!(diff.compatibility(), there, "{old} -> {new}: {diff}");
    assert_eq!(SchemaDiff::of_arguments(&new, &old).compatibility(), back, "{new} -> {old}");
    assert!(diff.to_string().contains(why), "{diff}");
    assert!(SchemaDiff::of_arguments(&old, &old).is_empty());
}

/// Returns the schema of a variant of a tagged enum.
fn variant(tag: &str, kind: &str) -> Value {
    json!({
        "type": "object",
        "properties": {"tag": {"const": tag}, "data": {"type": kind}},
        "required": ["tag"],
    })
}

/// Returns a schema with `minimum` beside a reference and in its target. Both bounds apply.
fn bounded_by_reference(least: u8) -> Value {
    json!({"allOf": [{"$ref": "#/properties/a/$defs/Bounded", "minimum": 3}], "$defs": {"Bounded": {"minimum": least}}})
}

#[test]
fn changes_behind_references_and_of_all_properties_are_found() {
    let negated = |kind: &str| json!({"properties": {"a": {"not": {"$ref": "#/$defs/No"}}}, "$defs": {"No": {"type": kind}}});
    let diff = SchemaDiff::of_arguments(&negated("string"), &negated("number"));
    assert_eq!(diff.to_string(), "breaking at `#/properties/a`: what `not` refers to changed");
    let map = json!({"additionalProperties": {"type": "string"}});
    let named =
        |kind: &str| json!({"properties": {"a": {"type": kind}}, "additionalProperties": {"type": "string"}});
    assert_eq!(SchemaDiff::of_arguments(&map, &named("string")).compatibility(), Compatible);
    assert_eq!(SchemaDiff::of_arguments(&map, &named("integer")).compatibility(), Breaking);
}

#[test]
fn fewer_accepted_values_break_calls_and_more_break_results() {
    for (narrow, wide, why) in [
        (json!({"type": "integer"}), json!({"type": "number"}), "was integer and is number"),
        (json!({"type": "string"}), json!({"type": ["null", "string"]}), "is null or string"),
        (json!({"type": "string"}), json!({}), "no longer only string"),
        (json!({"enum": ["x"]}), json!({"enum": ["x", "y"]}), r#"newly allowed: "y""#),
        (json!({"const": 1}), json!({"enum": [2, 1.0]}), "newly allowed: 2"),
        (json!({"enum": [1]}), json!({}), "the list of allowed values is gone"),
        (json!({"minimum": 2}), json!({"minimum": 1}), "`minimum` was 2 and is 1"),
        (json!({"maximum": 10}), json!({"maximum": 10.5}), "`maximum` was 10 and is 10.5"),
        (json!({"maxLength": 3}), json!({}), "`maxLength` was 3 and is gone"),
        (json!({"minItems": 1}), json!({}), "`minItems` was 1 and is 0"),
        (json!({"pattern": "^a"}), json!({}), "`pattern` is gone"),
        (json!({"uniqueItems": true}), json!({"uniqueItems": false}), "`uniqueItems` was true"),
        (json!({"items": {"type": "string"}}), json!({"items": true}), "#/properties/a/items"),
        (json!({"additionalProperties": false}), json!({}), "other properties are accepted now"),
        (
            json!({"anyOf": [{"type": "string"}]}),
            json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
            "new in `anyOf`: null",
        ),
        (
            json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}),
            json!({"allOf": [{"maximum": 2}]}),
            "gone from `allOf`",
        ),
        (json!({"oneOf": [{"const": 1}]}), json!({}), "the list of variants is gone"),
        (json!(false), json!(true), "values are accepted now"),
        (json!({"required": ["b"]}), json!({}), "the property `b` may be left out now"),
        (
            json!({"oneOf": [{"type": "string"}]}),
            json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
            "new in `oneOf`: number",
        ),
        (
            json!({"oneOf": [variant("a", "number")]}),
            json!({"oneOf": [variant("a", "number"), variant("b", "string")]}),
            "new in `oneOf`",
        ),
        (json!({"propertyNames": false}), json!({}), "`propertyNames` is gone"),
        (json!({"const": 1, "enum": [2]}), json!({"const": 1, "enum": [1]}), "newly allowed: 1"),
        (bounded_by_reference(10), bounded_by_reference(5), "`minimum` was 10 and is 5"),
    ] {
        check(narrow, wide, Compatible, Breaking, why);
    }
}

#[test]
fn undecidable_changes_break_both_ways() {
    for (one, other, why) in [
        (json!({"type": "string"}), json!({"type": "integer"}), "the type was string and is integer"),
        (json!({"pattern": "^a"}), json!({"pattern": "^b"}), "`pattern` was \"^a\" and is \"^b\""),
        (json!({"not": {"const": 1}}), json!({}), "`not` is gone"),
        (json!({"enum": [1, 2]}), json!({"enum": [2, 3]}), "no longer allowed: 1"),
        (json!({"prefixItems": [true]}), json!({"prefixItems": [true, true]}), "tuple"),
        (
            json!({"oneOf": [{"type": "integer"}]}),
            json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            "more than one variant",
        ),
        (
            json!({"properties": {"b": {}}, "unevaluatedProperties": false}),
            json!({"properties": {"b": {}}, "allOf": [{"properties": {"c": {}}}], "unevaluatedProperties": false}),
            "`unevaluatedProperties` leaves over",
        ),
        (json!({"patternProperties": {"^a": {}}}), json!({}), "`patternProperties` is gone"),
        (json!({"$ref": "https://example.org/a"}), json!({"$ref": "https://example.org/b"}), "`$ref`"),
    ] {
        check(one, other, Breaking, Breaking, why);
    }
}

#[test]
fn equivalent_schemas_differ_in_nothing_or_in_descriptions() {
    for (one, other) in [
        (json!({"enum": [1, 2]}), json!({"enum": [2.0, 1]})),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ),
        (json!({"type": ["string", "null"]}), json!({"type": ["null", "string"]})),
        (json!({"minLength": 0}), json!({})),
        (json!({"additionalProperties": true}), json!({})),
        (json!({"items": {}}), json!({})),
    ] {
        check(one, other, Unchanged, Unchanged, "");
    }
    check(
        json!({"description": "old"}),
        json!({"description": "new"}),
        Compatible,
        Compatible,
        "`description` changed",
    );
    check(json!({"default": 1}), json!({"default": 2}), Compatible, Compatible, "`default` was 1 and is 2");
}

#[test]
fn added_and_removed_properties_are_reported_with_their_effect() {
    let old = json!({"properties": {"kept": {}, "gone": {}, "free": {}}, "required": ["free", "gone"]});
    let new =
        json!({"properties": {"kept": {}, "free": {}, "must": {}, "may": {}}, "required": ["kept", "must"]});
    let lines = |diff: SchemaDiff| diff.to_string();
    assert_eq!(
        lines(SchemaDiff::of_arguments(&old, &new)),
        "breaking at `#/properties/kept`: the property must be there now\n\
         breaking at `#/properties/gone`: the property is gone\n\
         compatible at `#/properties/free`: the property may be left out now\n\
         breaking at `#/properties/must`: a property was added that must be there\n\
         compatible at `#/properties/may`: a property was added that may be left out"
    );
    assert_eq!(
        lines(SchemaDiff::of_results(&old, &new)),
        "compatible at `#/properties/kept`: the property must be there now\n\
         breaking at `#/properties/gone`: the property is gone\n\
         breaking at `#/properties/free`: the property may be left out now\n\
         compatible at `#/properties/must`: a property was added that must be there\n\
         compatible at `#/properties/may`: a property was added that may be left out"
    );
}

#[test]
fn a_name_with_a_slash_is_escaped_in_its_path() {
    let diff = SchemaDiff::of_arguments(&json!({"properties": {"a/b~c": {}}}), &json!({}));
    assert_eq!(diff.changes()[0].path, "#/properties/a~1b~0c");
}

#[test]
fn references_are_followed_and_recursion_ends() {
    let tree = |leaf: Value| {
        json!({
            "properties": {"root": {"$ref": "#/$defs/Tree"}},
            "$defs": {"Tree": {"properties": {
                "leaf": leaf,
                "children": {"items": {"$ref": "#/$defs/Tree"}},
            }}}
        })
    };
    let diff = SchemaDiff::of_arguments(&tree(json!({"type": "string"})), &tree(json!({"type": "boolean"})));
    assert_eq!(
        diff.to_string(),
        "breaking at `#/properties/root/properties/leaf`: the type was string and is boolean"
    );

    // Moving a schema into a definition is no change.
    let named = json!({"properties": {"a": {"$ref": "#/$defs/A", "description": "d"}}, "$defs": {"A": {"type": "string"}}});
    let plain = json!({"properties": {"a": {"type": "string", "description": "d"}}});
    assert!(SchemaDiff::of_arguments(&named, &plain).is_empty());
    // The comparison of a recursive schema with any other schema ends, too.
    let endless = json!({"items": {"$ref": "#"}});
    assert!(SchemaDiff::of_arguments(&endless, &json!({})).compatibility() <= Compatible);
    let circle = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
    assert!(SchemaDiff::of_arguments(&circle, &circle).is_empty());
}

#[test]
fn values_are_not_taken_for_references() {
    let schema = |name: &str| json!({"default": {"$ref": "#/$defs/A"}, "$defs": {"A": {"type": name}}});
    assert!(SchemaDiff::of_arguments(&schema("string"), &schema("integer")).is_empty());
}
