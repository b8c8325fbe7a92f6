//! Tests of own names and of values without defaults.

use super::*;
use serde_json::json;

#[track_caller]
fn check(schema: &Value, text: &str, expected: &str) {
    let mut value = Json::parse(text).unwrap();
    use_own_names(schema, &mut value);
    remove_defaults(schema, &mut value);
    assert_eq!(value.compact(), expected);
}

#[test]
fn defaults_are_removed_at_every_depth() {
    let schema = json!({"properties": {
        "list": {"items": {"$ref": "#/$defs/Item"}},
        "map": {"additionalProperties": {"$ref": "#/$defs/Item"}},
        "in": {"allOf": [{"$ref": "#/$defs/Item"}], "default": {"on": true, "n": 1.0}},
        "must": {"default": 1},
    }, "required": ["must"], "$defs": {"Item": {"type": "object", "properties": {
        "n": {"default": 1, "x-toolkit-aliases": ["number"]}, "on": {"default": true}, "in": {"$ref": "#/$defs/Item"},
    }}}});
    check(&schema, r#"{"list":[{"n":1,"on":true},{"number":2}]}"#, r#"{"list":[{},{"n":2}]}"#);
    check(&schema, r#"{"map":{"n":{"in":{"number":1.0}}}}"#, r#"{"map":{"n":{"in":{}}}}"#);
    check(&schema, r#"{"in":{},"must":1}"#, r#"{"must":1}"#);
    check(&schema, r#"{"in":{"n":2}}"#, r#"{"in":{"n":2}}"#);
    check(&schema, r#"{"list":[{"n":1,"number":1}]}"#, r#"{"list":[{"n":1,"n":1}]}"#);
}

#[test]
fn a_union_keeps_the_members_that_may_tell_its_branches_apart() {
    let tagged = |tag: &str| {
        json!({"type": "object", "required": ["kind"], "properties": {
            "kind": {"const": tag}, "n": {"default": 1},
        }})
    };
    let schema = json!({"oneOf": [tagged("a"), tagged("b"), {"type": "null"}]});
    check(&schema, r#"{"kind":"b","n":1}"#, r#"{"kind":"b"}"#);
    let named = |name: &str| {
        let inner = json!({"properties": {"n": {"default": 1}}});
        json!({"type": "object", "required": [name], "additionalProperties": false, "properties": {name: inner}})
    };
    let schema = json!({"oneOf": [named("A"), named("B"), {"enum": ["C"]}]});
    check(&schema, r#"{"B":{"n":1}}"#, r#"{"B":{}}"#);
    let open = |default: i64| json!({"type": "object", "properties": {"n": {"default": default}}});
    let schema = json!({"anyOf": [open(1), open(2)]});
    check(&schema, r#"{"n":1}"#, r#"{"n":1}"#);
}

#[test]
fn a_value_of_an_untagged_enum_has_the_names_of_its_first_fitting_variant() {
    let named =
        |names: &Value| json!({"type": "string", "enum": ["Left", "Right"], "x-toolkit-names": names});
    let (aliased, text) = (named(&json!({"L": "Left"})), json!({"type": "string"}));
    check(&json!({"anyOf": [aliased, text]}), r#""L""#, r#""Left""#);
    check(&json!({"anyOf": [text, aliased]}), r#""L""#, r#""L""#);
    let list = |item: &Value| json!({"type": "array", "items": item});
    check(&json!({"anyOf": [list(&aliased), list(&text)]}), r#"["L","Right"]"#, r#"["Left","Right"]"#);
    check(&json!({"anyOf": [list(&aliased), list(&text)]}), r#"["L","other"]"#, r#"["L","other"]"#);
}

#[test]
fn the_names_in_a_deep_untagged_enum_are_found() {
    let branch = |name: &str, alias: &str| {
        let own = json!({"type": "integer", "x-toolkit-aliases": [alias]});
        json!({"type": "object", "properties": {name: own, "in": {"$ref": "#"}}, "required": [name]})
    };
    let schema = json!({"anyOf": [branch("a", "b"), branch("c", "d")]});
    let nested = |name: &str| {
        (0..100).fold(r#"{"a":1}"#.to_owned(), |inner, _| format!(r#"{{"{name}":1,"in":{inner}}}"#))
    };
    check(&schema, &nested("d"), &nested("c"));
}

#[test]
fn forms_that_serde_takes_become_names() {
    let tagged = |tag: &str, aliases: &[&str]| {
        json!({"type": "object", "required": ["kind"], "x-toolkit-names": aliases,
            "properties": {"kind": {"const": tag}}})
    };
    let units = json!({"type": "string", "enum": ["Left", "Right"], "x-toolkit-names": {"L": "Left"}});
    let kinds = json!({"oneOf": [tagged("One", &["1st"]), tagged("Two", &[])]});
    for (schema, text, expected) in [
        (&units, r#"{"Right":null}"#, r#""Right""#),
        (&units, r#"{"L":null}"#, r#""Left""#),
        (&units, r#"{"L":1}"#, r#"{"L":1}"#),
        (&kinds, r#"{"kind":1}"#, r#"{"kind":"Two"}"#),
        (&kinds, r#"{"kind":{"1st":null}}"#, r#"{"kind":"One"}"#),
        (&kinds, r#"{"kind":2}"#, r#"{"kind":2}"#),
    ] {
        let mut value = Json::parse(text).unwrap();
        use_own_members(schema, &mut value);
        assert_eq!(value.compact(), expected);
        let mut value = Json::parse(text).unwrap();
        use_own_names(schema, &mut value);
        assert_eq!(value.compact(), text, "only the view of rules has other forms");
    }
}

#[test]
fn schemas_that_lead_back_to_themselves_end() {
    let schema = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}], "anyOf": [{"$ref": "#"}], "properties": {
        "n": {"default": 1}, "in": {"$ref": "#", "default": {}},
    }});
    check(&schema, r#"{"in":{"in":{"n":1}}}"#, "{}");
}
