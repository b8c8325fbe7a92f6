//! Tests that exactly the arguments accepted by the validator are accepted, and each refusal has a reason.

use super::*;
use crate::error::ErrorKind;
use crate::schema::__private::Json;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, json};

fn read(schema: &Value, text: &str, coerce: bool) -> Result<Value, ToolError> {
    let tool = DynamicTool::new("tool", "", schema.clone(), |_: Value| "").unwrap().with_coerce(coerce);
    tool.read(text, &ToolContext::new(ToolName::new("tool").unwrap()))
}

fn search() -> Value {
    json!({"type": "object", "required": ["query"], "additionalProperties": false, "properties": {
        "query": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
        "filters": {"type": "array", "items": {"type": "object", "properties": {"max": {"type": "number"}}}},
    }})
}

#[test]
fn all_violations_are_reported_at_once_in_the_words_of_typed_tools() {
    let text = r#"{"querry": "a", "count": 0, "filters": [{}, {}, {"max": "x"}], "tags": "a"}"#;
    let error = read(&search(), text, false).unwrap_err();
    assert_eq!(
        error.message(),
        "Error validating JSON arguments: 5 problems
- `querry`: there is no such parameter; did you mean `query`?
- `count`: expected integer of at least 1, got number 0
- `filters[2].max`: expected number, got string \"x\"
- `tags`: expected array of string, got string \"a\"
- `query`: required, but missing; expected string"
    );
}

#[test]
fn empty_text_is_the_empty_object_only_if_objects_are_accepted() {
    let anything = json!({"type": "object"});
    for text in ["", " \n", "null", "{}"] {
        assert_eq!(read(&anything, text, false).unwrap(), json!({}), "{text:?}");
    }
    assert_eq!(read(&json!({"type": ["object", "null"]}), "null", false).unwrap(), json!(null));
    for (schema, text, kind) in [
        (json!({"type": "array"}), "", ErrorKind::InvalidJson),
        (json!({"type": "array"}), "null", ErrorKind::InvalidArguments),
        (anything.clone(), "{", ErrorKind::InvalidJson),
        (anything.clone(), "{} {}", ErrorKind::InvalidJson),
        (anything.clone(), "[]", ErrorKind::InvalidArguments),
        (anything.clone(), r#""{}""#, ErrorKind::InvalidArguments),
        (anything, r#"{"a": 1, "b": 2, "a": 3}"#, ErrorKind::InvalidArguments),
    ] {
        assert_eq!(read(&schema, text, false).unwrap_err().kind(), kind, "{schema} {text:?}");
    }
    let error = read(&json!({"type": "object"}), r#"{"a": 1, "b": 2, "a": 3, "a": 4}"#, false).unwrap_err();
    assert!(error.message().ends_with(": `a`: given twice; give it once"), "{error}");
}

#[test]
fn arguments_may_be_arrays_and_single_values() {
    let pair =
        json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2});
    assert_eq!(read(&pair, r#"[1, "a"]"#, false).unwrap(), json!([1, "a"]));
    let error = read(&pair, "[1, 2]", false).unwrap_err();
    assert!(error.message().ends_with(": `[1]`: expected string, got number 2"), "{error}");
    let number = json!({"type": "number", "maximum": 5});
    assert_eq!(read(&number, "4.5", false).unwrap(), json!(4.5));
    let error = read(&number, "6", false).unwrap_err();
    assert!(error.message().ends_with(": expected number of at most 5, got number 6"), "{error}");
}

#[test]
fn coercion_follows_typed_tools_and_the_validator_checks_the_result() {
    let schema = search();
    for (text, coerced) in [
        (r#"{"query": "a", "count": "5"}"#, Some(json!({"query": "a", "count": 5}))),
        (r#"{"query": "a", "count": "5.0"}"#, Some(json!({"query": "a", "count": 5}))),
        (r#"{"query": "5", "tags": "[\"a\"]"}"#, Some(json!({"query": "5", "tags": ["a"]}))),
        (r#"{"query": "a", "count": null}"#, Some(json!({"query": "a"}))),
        (r#""{\"query\": \"a\"}""#, Some(json!({"query": "a"}))),
        (r#"{"query": "a", "count": "0"}"#, None),
        (r#"{"query": "a", "count": "5", "other": 1}"#, None),
        (r#"{"query": null}"#, None),
        (r#""{\"query\": \"a\", \"query\": \"b\"}""#, None),
    ] {
        assert!(read(&schema, text, false).is_err(), "{text}");
        assert_eq!(read(&schema, text, true).ok(), coerced, "{text}");
    }
    assert_eq!(read(&json!({"type": "array"}), r#""[1]""#, true).unwrap(), json!([1]));
}

#[test]
fn no_integer_reaches_the_handler_rounded() {
    const WIDE: &str = "123456789012345678901234567890";
    let schema = json!({"type": "object", "properties": {
        "id": {"type": "integer"},
        "ids": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "ratio": {"type": "number"},
        "text": {"type": "string"},
        "any": {},
    }});
    for (text, place) in [
        (format!(r#"{{"id": {WIDE}}}"#), "id"),
        (format!(r#"{{"id": -{WIDE}}}"#), "id"),
        (r#"{"id": 1.23456789012345678901234567890e29}"#.to_owned(), "id"),
        (r#"{"id": 18446744073709551617}"#.to_owned(), "id"),
        (format!(r#"{{"ids": [1, null, {WIDE}]}}"#), "ids[2]"),
        (format!(r#"{{"any": {{"deep": [{{"id": {WIDE}}}]}}}}"#), "any.deep[0].id"),
        (format!(r#"{{"ratio": {WIDE}}}"#), "ratio"),
        (format!(r#"{{"other": {WIDE}}}"#), "other"),
    ] {
        for coerce in [false, true] {
            let error = read(&schema, &text, coerce).unwrap_err();
            let number = error.violations()[0].message.split("got ").nth(1).unwrap_or_default();
            let expected = format!("`{place}`: expected integer of at most 64 bits, got {number}");
            assert_eq!(error.violations().len(), 1, "{text}: {error}");
            assert_eq!(error.violations()[0].to_string(), expected, "{text}");
        }
    }
    for (text, value) in [
        (r#"{"ratio": 0.12345678901234567890}"#.to_owned(), json!({"ratio": 0.123_456_789_012_345_68})),
        (r#"{"id": 18446744073709551615}"#.to_owned(), json!({"id": u64::MAX})),
        (r#"{"id": 100000000000000000000000}"#.to_owned(), json!({"id": 1e23})),
        (format!(r#"{{"text": "{WIDE}", "any": "{WIDE}"}}"#), json!({"text": WIDE, "any": WIDE})),
    ] {
        assert_eq!(read(&schema, &text, false).unwrap(), value, "{text}");
    }
    // With coercion, a number for a string is its exact text, even beyond a `Value`.
    for number in [WIDE, "1e400", "-1.5E+999", "0.10"] {
        let text = format!(r#"{{"text": {number}}}"#);
        assert!(read(&schema, &text, false).is_err(), "{text}");
        assert_eq!(read(&schema, &text, true).unwrap(), json!({"text": number}), "{text}");
        let fenced = format!("```json\n{text}\n```");
        assert_eq!(read(&schema, &fenced, true).unwrap(), json!({"text": number}), "{text}");
    }
    let error = read(&schema, r#"{"text": 1e400, "ids": [1e400]}"#, true).unwrap_err();
    assert!(error.message().contains("number out of range"), "{error}");
}

#[test]
fn messages_are_bounded_for_any_schema_and_arguments() {
    let long = "x".repeat(2_000);
    let properties: Map<String, Value> =
        (0..1_000).map(|n| (format!("{long}{n}"), json!({"enum": [long, long]}))).collect();
    let required: Vec<&String> = properties.keys().collect();
    let schema = json!({"type": "object", "additionalProperties": false, "required": required,
        "properties": properties});
    for text in [json!({}), json!({ &long: 1 }), json!({ format!("{long}1"): long }), json!([long])] {
        let error = read(&schema, &text.to_string(), false).unwrap_err();
        assert!(error.message().len() < 20_000, "{} bytes", error.message().len());
    }
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = select(vec![
        json!(true),
        json!({"type": "string"}),
        json!({"type": "integer"}),
        json!({"type": ["number", "null"]}),
        json!({"type": "boolean"}),
        json!({"type": "integer", "minimum": 0, "exclusiveMaximum": 3}),
        json!({"multipleOf": 2}),
        json!({"type": "string", "minLength": 1, "pattern": "^a"}),
        json!({"type": "string", "format": "date"}),
        json!({"enum": ["a", 1, null, [1]]}),
        json!({"const": 1.0}),
        json!({"$ref": "#/$defs/tree"}),
        json!({"not": {"type": "string"}}),
    ]);
    leaf.prop_recursive(3, 24, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (inner.clone(), 0_u8..3).prop_map(|(items, least)| json!({
                "type": "array", "items": items, "minItems": least, "uniqueItems": least == 1
            })),
            list.clone().prop_map(|items| json!({"type": "array", "prefixItems": items, "items": false})),
            list.clone().prop_map(|branches| json!({"anyOf": branches})),
            list.clone().prop_map(|branches| json!({"oneOf": branches})),
            list.prop_map(|branches| json!({"allOf": branches})),
            inner.clone().prop_map(|names| json!({"type": "object", "propertyNames": names})),
            object(inner),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let properties = prop::collection::btree_map("[a-c]", inner, 0..3);
    let others = select(vec![json!(true), json!(false), json!({"type": "integer"})]);
    (properties, prop::collection::btree_set("[a-c]", 0..2), others).prop_map(|(properties, required, others)| {
        json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": others,
        })
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.0),
        json!(2),
        json!(-3),
        json!(0.5),
        json!(1e300),
        json!(""),
        json!("a"),
        json!("ab"),
        json!("b"),
        json!("2024-01-01"),
        json!("5"),
    ]);
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    #[test]
    fn what_the_handler_receives_is_what_was_written(
        digits in "-?[1-9][0-9]{0,30}", exponent in select(vec!["", "e0", "e2", ".0", "0e1"]), depth in 0_usize..4,
        schema in select(vec![json!({}), json!({"type": "integer"}), json!({"type": "string"})]), coerce: bool,
    ) {
        let number = format!("{digits}{exponent}");
        let text = format!("{{\"a\":{}{number}{}}}", "[".repeat(depth), "]".repeat(depth));
        let nested = (0..depth).fold(schema, |items, _| json!({"type": "array", "items": items}));
        let schema = json!({"type": "object", "properties": {"a": nested}});
        if let Ok(value) = read(&schema, &text, coerce) {
            let received = value.to_string();
            let is_text = received.contains(&format!("\"{number}\""));
            let canonical = |text: &str| Json::parse(text).unwrap().canonical();
            prop_assert!(is_text || canonical(&text) == canonical(&received), "{text} became {received}");
        }
    }

    #[test]
    fn accepted_exactly_if_the_validator_accepts(schema in schema(), value in value()) {
        let schema = json!({
            "allOf": [schema],
            "$defs": {"tree": {"type": "object", "properties": {"a": {"$ref": "#/$defs/tree"}}, "maxProperties": 2}},
        });
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        // `read` turns a refused `null` into empty arguments, so the verdict on `null` says nothing.
        prop_assume!(validator.is_valid(&value) || !value.is_null());
        match read(&schema, &value.to_string(), false) {
            Ok(read) => {
                prop_assert!(validator.is_valid(&value), "{schema}\n{value}");
                prop_assert_eq!(&read, &value);
            }
            Err(error) => {
                prop_assert!(!validator.is_valid(&value), "{schema}\n{value}\n{error}");
                prop_assert!(!error.violations().is_empty());
                prop_assert!(error.message().len() < 20_000);
            }
        }
        // With coercion, `read` may accept more, but the validator accepts what it returns.
        match read(&schema, &value.to_string(), true) {
            Ok(read) => prop_assert!(validator.is_valid(&read)),
            Err(_) => prop_assert!(!validator.is_valid(&value)),
        }
    }
}
