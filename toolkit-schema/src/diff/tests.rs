//! Tests of every kind of change, and its effect.

use super::Compatibility::{self, Breaking, Compatible};
use super::SchemaDiff;
use serde_json::{Value, json};

/// Compares two versions of the parameter `a`.
#[track_caller]
fn check(old: &Value, new: &Value, effect: Compatibility, why: &str) {
    let object = |schema: &Value| json!({"type": "object", "properties": {"a": schema}});
    let diff = SchemaDiff::of_arguments(&object(old), &object(new));
    assert_eq!(diff.compatibility(), effect, "{old} -> {new}: {diff}");
    assert!(diff.to_string().contains(why), "{diff}");
    assert!(SchemaDiff::of_arguments(old, old).is_empty());
}

#[test]
fn another_type_breaks_both_ways_and_any_other_keyword_may() {
    for (one, other, why) in [
        (json!({"type": "string"}), json!({"type": "integer"}), "the type was string and is integer"),
        (
            json!({"type": "string"}),
            json!({"type": ["null", "string"]}),
            "the type was string and is null or string",
        ),
        (json!({"type": "string"}), json!({}), "the type was string and is any"),
        (json!({"minimum": 2}), json!({"minimum": 1}), "`minimum` was 2 and is 1"),
        (json!({"enum": ["x"]}), json!({"enum": ["x", "y"]}), r#"`enum` was ["x"] and is ["x","y"]"#),
        (json!({"maxLength": 3}), json!({}), "`maxLength` is gone"),
        (json!({}), json!({"pattern": "^a"}), r#"`pattern` is new: "^a""#),
        (
            json!({"items": {"type": "string"}}),
            json!({"items": {"type": "null"}}),
            "#/properties/a/items`: the type",
        ),
        (json!({"anyOf": [{"type": "string"}]}), json!({"anyOf": [{"type": "null"}]}), "`anyOf` was"),
        (json!(false), json!(true), "`schema` was false and is true"),
        (
            json!({"$ref": "https://example.org/a"}),
            json!({"$ref": "https://example.org/b"}),
            "the reference changed",
        ),
        (
            json!({"additionalProperties": {"type": "string"}}),
            json!({"properties": {"b": {}}, "additionalProperties": {"type": "string"}}),
            "its name was held to another schema",
        ),
    ] {
        check(&one, &other, Breaking, why);
        check(&other, &one, Breaking, "");
    }
}

#[test]
fn changes_behind_references_are_found() {
    for (schema, what) in [
        (json!({"not": {"$ref": "#/$defs/T"}}), "what `not` refers to changed"),
        (json!({"if": {}, "then": {"$ref": "#/$defs/T"}}), "what `then` refers to changed"),
        // References beside other keywords, in a chain.
        (json!({"$ref": "#/$defs/T", "minimum": 0}), "what `$ref` refers to changed"),
        (json!({"$ref": "#/$defs/Beside"}), "what `$ref` refers to changed"),
        (json!({"not": {"$ref": "#/$defs/Beside"}}), "what `not` refers to changed"),
        (json!({"$ref": "#/$defs/T"}), "the type was string and is number"),
    ] {
        let version = |kind: &str| {
            let beside = json!({"$ref": "#/$defs/T", "maximum": 9});
            json!({"properties": {"a": schema}, "$defs": {"T": {"type": kind}, "Beside": beside}})
        };
        let diff = SchemaDiff::of_arguments(&version("string"), &version("number"));
        assert_eq!(diff.to_string(), format!("breaking at `#/properties/a`: {what}"), "{schema}");
    }
    let version = |most: u8| {
        let beside = json!({"$ref": "#/$defs/T", "maximum": most});
        json!({"properties": {"a": {"$ref": "#/$defs/Beside"}}, "$defs": {"T": {}, "Beside": beside}})
    };
    let diff = SchemaDiff::of_arguments(&version(9), &version(8));
    assert_eq!(diff.to_string(), "breaking at `#/properties/a`: `maximum` was 9 and is 8");
}

#[test]
fn the_order_of_types_and_descriptions_break_nothing() {
    let types = [json!({"type": ["string", "null"]}), json!({"type": ["null", "string"]})];
    assert_eq!(SchemaDiff::of_arguments(&types[0], &types[1]).compatibility(), Compatibility::Unchanged);
    for (old, new) in [
        (json!({"description": "old"}), json!({"description": "new"})),
        (json!({"default": 1}), json!({"default": 2})),
    ] {
        check(&old, &new, Compatible, "compatible at `#`: only descriptions, examples or defaults changed");
    }
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

    let named = json!({"properties": {"a": {"$ref": "#/$defs/A", "description": "d"}}, "$defs": {"A": {"type": "string"}}});
    let plain = json!({"properties": {"a": {"type": "string", "description": "d"}}});
    assert!(SchemaDiff::of_arguments(&named, &plain).is_empty());
    let endless = json!({"items": {"$ref": "#"}});
    assert_eq!(SchemaDiff::of_arguments(&endless, &json!({})).compatibility(), Breaking);
    let circle = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
    assert!(SchemaDiff::of_arguments(&circle, &circle).is_empty());
}

#[test]
fn values_are_not_taken_for_references() {
    let schema = |name: &str| json!({"default": {"$ref": "#/$defs/A"}, "$defs": {"A": {"type": name}}});
    assert!(SchemaDiff::of_arguments(&schema("string"), &schema("integer")).is_empty());
}
