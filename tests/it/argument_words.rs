//! Near misses of weak models, values so deep that exponential work would never end, and values with many members.

use super::argument_promises::{call, check, reported_coercions};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolkit::ClosureTool;
use toolkit::definition::UnknownArguments;
use toolkit::prelude::*;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(dead_code)]
enum Expression {
    Number {
        #[schemars(range(max = 1000))]
        value: i64,
    },
    Add {
        left: Box<Self>,
        right: Box<Self>,
    },
    Negate {
        inner: Box<Self>,
    },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Untagged {
    Number(i64),
    One { one: Box<Self> },
    Other { other: Vec<u8> },
    Many(Vec<Self>),
}

/// Takes a tree of tagged values.
#[tool(namespace = "promises")]
fn evaluate(expression: Expression) -> &'static str {
    let _ = expression;
    "taken"
}

/// Takes a tree of untagged values, which differ only in their JSON type.
#[tool(namespace = "promises")]
fn untagged(tree: Untagged) -> &'static str {
    let _ = tree;
    "taken"
}

fn nested(before: &str, inner: &str, after: &str, depth: usize) -> String {
    format!("{}{inner}{}", before.repeat(depth), after.repeat(depth))
}

/// Work that doubles with each level would not end.
#[test]
fn checking_and_explaining_are_not_exponential_in_the_depth() {
    let add = (r#"{"kind": "add", "right": {"kind": "number", "value": 1}, "left": "#, "}");
    let not = (r#"{"kind": "negate", "inner": "#, "}");
    for (leaf, fits) in [
        (r#"{"kind": "number", "value": 1}"#, true),
        (r#"{"kind": "number", "value": "1"}"#, true),
        (r#"{"kind": "number", "value": 1001}"#, false),
        (r#"{"kind": "number", "value": "x"}"#, false),
        (r#"{"kind": "numbr"}"#, false),
    ] {
        for (before, after) in [add, not] {
            let arguments = format!(r#"{{"expression": {}}}"#, nested(before, leaf, after, 50));
            let outcome = call(&evaluate::tool(), &arguments);
            assert_eq!(outcome.is_ok(), fits, "{leaf}: {outcome:?}");
            let is_explained = outcome.is_ok_and(|_| true) || {
                let refused = call(&evaluate::tool(), &arguments).expect_err("as before");
                refused.contains(".left.") || refused.contains(".inner.")
            };
            assert!(is_explained, "{leaf}");
        }
    }
    for (leaf, fits) in [("1", true), (r#""1""#, true), (r#""x""#, false)] {
        let arguments = format!(r#"{{"tree": {}}}"#, nested(r#"{"one": "#, leaf, "}", 40));
        let outcome = call(&untagged::tool(), &arguments);
        assert_eq!(outcome.is_ok(), fits, "{leaf}: {outcome:?}");
        let arguments = format!(r#"{{"tree": {}}}"#, nested("[", leaf, "]", 40));
        assert_eq!(call(&untagged::tool(), &arguments).is_ok(), fits, "{leaf}");
    }
}

#[cfg(feature = "jsonschema")]
#[test]
fn dynamic_tools_with_recursive_unions_are_not_exponential_in_the_depth() {
    let schema = serde_json::json!({
        "type": "object", "properties": {"tree": {"$ref": "#/$defs/Tree"}}, "required": ["tree"],
        "$defs": {"Tree": {"anyOf": [
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/Tree"}, "k": {"const": 1}}, "required": ["k"]},
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/Tree"}}, "maxProperties": 1},
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/Tree"}}, "additionalProperties": false},
            {"type": "integer"},
        ]}},
    });
    for coerce in [false, true] {
        let tool = toolkit::DynamicTool::new("tree", "", schema.clone(), |_: serde_json::Value| "taken");
        let tool = tool.expect("a schema").with_coerce(coerce);
        for (leaf, fits) in [("1", true), ("true", false), (r#""x""#, false), (r#""1""#, coerce)] {
            let arguments = format!(r#"{{"tree": {}}}"#, nested(r#"{"a": "#, leaf, "}", 40));
            let outcome = call(&tool, &arguments);
            assert_eq!(outcome.is_ok(), fits, "{leaf}: {outcome:?}");
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
pub(crate) struct Open {
    #[schemars(range(max = 5))]
    bounded: Option<i64>,
    number: i64,
}

/// Takes any member beside its own.
#[tool(namespace = "promises")]
pub(crate) fn open(it: Open, #[param(length = ..=3)] text: Option<String>) -> &'static str {
    let _ = (it, text);
    "taken"
}

/// Takes its own members only.
#[tool(namespace = "promises")]
pub(crate) fn closed(#[param(flatten)] it: Open) -> &'static str {
    let _ = it;
    "taken"
}

#[test]
fn a_part_that_is_too_deep_to_be_read_hides_no_violation() {
    for (bounded, fits) in [("5", true), ("6", false)] {
        for (depth, is_deep) in [(100, false), (200, true), (100_000, true)] {
            let deep = nested("[", "", "]", depth);
            let arguments = format!(r#"{{"it": {{"number": 1, "bounded": {bounded}, "other": {deep}}}}}"#);
            let tool = open::tool().with_metadata(|it| it.with_unknown(UnknownArguments::Ignore));
            let outcome = call(&tool, &arguments);
            assert_eq!(outcome.is_ok(), fits && !is_deep, "{bounded} {depth}: {outcome:?}");
        }
    }
}

#[cfg(feature = "jsonschema")]
#[test]
fn a_member_given_twice_is_refused_at_every_depth() {
    let tool = toolkit::DynamicTool::new(
        "any",
        "",
        serde_json::json!({"type": ["object", "array"]}),
        |value: serde_json::Value| value.to_string(),
    );
    let tool = tool.expect("a schema");
    for (arguments, path) in [
        (r#"{"a": 1, "a": 2}"#, "a"),
        (r#"{"a": {"b": 1, "c": 2, "b": 1}}"#, "a.b"),
        (r#"[1, {"a": [{"b": 1, "\u0062": 2}]}]"#, "[1].a[0].b"),
        ("```json\n{\"a\": {\"b\": 1, \"b\": 1, \"b\": 2}}\n```", "a.b"),
    ] {
        for coerce in [false, true] {
            let tool = tool.clone().with_coerce(coerce);
            let refused = call(&tool, arguments).expect_err(arguments);
            if !arguments.starts_with('`') || coerce {
                assert_eq!(
                    refused,
                    format!("Error validating JSON arguments: `{path}`: given twice; give it once")
                );
            }
        }
    }
    assert_eq!(
        call(&tool, r#"{"a": {"b": 1}, "b": {"b": 1}}"#).as_deref(),
        Ok(r#"{"a":{"b":1},"b":{"b":1}}"#)
    );
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    FastMode,
    Slow,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Lenient {
    flag: Option<bool>,
    text: Option<String>,
    mode: Option<Mode>,
}

/// Takes words at every depth.
#[tool(namespace = "promises")]
fn lenient(
    flag: Option<bool>,
    text: Option<String>,
    mode: Option<Mode>,
    list: Option<Vec<Lenient>>,
) -> String {
    format!("{flag:?} {text:?} {mode:?} {list:?}")
}

/// Takes words as they are.
#[tool(namespace = "promises", coerce = false)]
fn strict(
    flag: Option<bool>,
    text: Option<String>,
    mode: Option<Mode>,
    list: Option<Vec<Lenient>>,
) -> String {
    lenient(flag, text, mode, list)
}

#[test]
fn near_misses_of_weak_models_are_coerced_at_every_depth() {
    let whole = ClosureTool::new("whole", "", |it: Lenient| format!("{it:?}")).expect("a tool");
    for (members, flag, text, mode) in [
        (r#""flag": "True""#, "Some(true)", "None", "None"),
        (r#""flag": "yes""#, "Some(true)", "None", "None"),
        (r#""flag": "NO""#, "Some(false)", "None", "None"),
        (r#""text": 5"#, "None", "Some(\"5\")", "None"),
        (r#""text": 1.50e300"#, "None", "Some(\"1.50e300\")", "None"),
        (
            r#""text": 123456789012345678901234567890"#,
            "None",
            "Some(\"123456789012345678901234567890\")",
            "None",
        ),
        (r#""mode": "Fast Mode""#, "None", "None", "Some(FastMode)"),
        (r#""mode": "fast_mode""#, "None", "None", "Some(FastMode)"),
        (r#""mode": "SLOW""#, "None", "None", "Some(Slow)"),
        ("\"text\": \"two\nlines\tand \\\"more\\\"\"", "None", r#"Some("two\nlines\tand \"more\"")"#, "None"),
    ] {
        let arguments = format!("{{{members}}}");
        check(&lenient::tool(), &arguments, Some(&format!("{flag} {text} {mode} None")));
        let fields = format!("Lenient {{ flag: {flag}, text: {text}, mode: {mode} }}");
        check(
            &lenient::tool(),
            &format!(r#"{{"list": [{arguments}]}}"#),
            Some(&format!("None None None Some([{fields}])")),
        );
        check(&whole, &arguments, Some(&fields));
        check(&whole, &format!("```json\n{arguments}\n```"), Some(&fields));
        check(&whole, &format!("``` {arguments}```\n"), Some(&fields));
        for arguments in
            [format!(r#"{{"list": [{arguments}]}}"#), format!("```json\n{arguments}\n```"), arguments]
        {
            check(&strict::tool(), &arguments, None);
        }
    }
    for arguments in [
        r#"{"flag": "maybe"}"#,
        r#"{"mode": "fastest"}"#,
        r#"{"text": true}"#,
        r#"{"text": ["a"]}"#,
        "```{```",
    ] {
        check(&lenient::tool(), arguments, None);
    }
}

#[tokio::test]
async fn every_coercion_is_in_the_last_event() {
    for (arguments, coerced) in [
        (r#"{"flag": "yes", "text": "a", "mode": "slow"}"#, serde_json::json!(["flag"])),
        (r#"{"text": 5, "mode": "Fast mode"}"#, serde_json::json!(["text", "mode"])),
        ("```json\n{\"flag\": true}\n```", serde_json::json!(["arguments"])),
        ("{\"text\": \"a\nb\", \"list\": [{\"flag\": \"no\"}]}", serde_json::json!(["arguments", "list"])),
        (r#"{"flag": true, "text": "yes"}"#, serde_json::Value::Null),
    ] {
        assert_eq!(reported_coercions(Arc::new(lenient::tool()), arguments).await, coerced, "{arguments}");
    }
}

#[derive(Debug, ToolParams)]
#[allow(dead_code)]
struct Flattened {
    n: Option<u8>,
    #[serde(flatten)]
    inner: Lenient,
    by_speed: Option<std::collections::BTreeMap<Speed, u8>>,
}

#[tokio::test]
async fn coercions_are_reported_by_every_kind_of_tool() {
    let closure = || ClosureTool::new("tool", "", |it: Flattened| format!("{it:?}")).expect("a tool");
    let nested = || {
        let by_list = |it: Vec<Flattened>| format!("{it:?}");
        #[derive(ToolParams)]
        struct List {
            list: Vec<Flattened>,
        }
        ClosureTool::new("tool", "", move |it: List| by_list(it.list)).expect("a tool")
    };
    /// Takes one struct.
    #[tool(register = false)]
    fn flattened(#[param(flatten)] it: Flattened) -> String {
        format!("{it:?}")
    }
    for (arguments, coerced) in [
        (r#"{"n": "5", "flag": "yes"}"#, serde_json::json!(["n", "flag"])),
        (r#"{"mode": "FAST MODE", "text": 5}"#, serde_json::json!(["mode", "text"])),
        (r#"{"by_speed": {"Very Fast": 5}}"#, serde_json::json!(["by_speed"])),
        (r#"{"by_speed": {"very_fast": 5.0}}"#, serde_json::json!(["by_speed"])),
        (r#"{"by_speed": {"very_fast": 5, "snail": 1}, "n": 5}"#, serde_json::Value::Null),
    ] {
        assert_eq!(reported_coercions(Arc::new(closure()), arguments).await, coerced, "{arguments}");
        assert_eq!(reported_coercions(Arc::new(flattened::tool()), arguments).await, coerced, "{arguments}");
        let list = format!(r#"{{"list": [{{}}, {arguments}]}}"#);
        let expected = !coerced.is_null();
        let expected = if expected { serde_json::json!(["list"]) } else { serde_json::Value::Null };
        assert_eq!(reported_coercions(Arc::new(nested()), &list).await, expected, "{arguments}");
    }
}

#[cfg(feature = "jsonschema")]
#[tokio::test]
async fn coercions_of_dynamic_tools_are_reported() {
    let schema = serde_json::json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "flag": {"type": "boolean"}, "unit": {"enum": ["km", "mile"]},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    }});
    let answer = |args: serde_json::Value| args.to_string();
    let tool =
        || toolkit::DynamicTool::new("tool", "", schema.clone(), answer).expect("a schema").with_coerce(true);
    for (arguments, coerced) in [
        (r#"{"n": "5", "flag": "yes", "unit": "KM"}"#, serde_json::json!(["n", "flag", "unit"])),
        (r#"{"map": {"a": "5"}}"#, serde_json::json!(["map"])),
        (r#"{"n": 5, "map": {"a": 5}, "unit": "km"}"#, serde_json::Value::Null),
    ] {
        assert_eq!(reported_coercions(Arc::new(tool()), arguments).await, coerced, "{arguments}");
    }
}

/// How fast a parcel travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ToolParams)]
#[serde(rename_all = "snake_case")]
enum Speed {
    /// By air.
    VeryFast,
    /// By ship.
    Slow,
    #[serde(alias = "lazy")]
    Snail,
}

#[derive(Debug, ToolParams)]
#[allow(dead_code)]
struct Prices {
    by_speed: std::collections::BTreeMap<Speed, u32>,
}

/// Sets prices.
#[tool(namespace = "promises")]
fn set_prices(prices: std::collections::BTreeMap<Speed, Prices>, speed: Option<Speed>) -> String {
    format!("{prices:?} {speed:?}")
}

#[test]
fn names_of_documented_variants_are_coerced_as_keys_of_maps() {
    let tool = set_prices::tool();
    let schema = &tool.definition().parameters["properties"]["prices"];
    assert_eq!(schema["additionalProperties"], false);
    let keys: Vec<&String> = schema["properties"].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["slow", "snail", "very_fast"]);
    let published = &tool.definition().parameters["properties"]["speed"];
    assert_eq!(published["enum"], serde_json::json!(["very_fast", "slow", "snail"]));
    let description = published["description"].as_str().expect("a description");
    assert!(description.contains("- `very_fast`: By air."), "{description}");
    let expected = "{Slow: Prices { by_speed: {VeryFast: 5} }} None";
    for arguments in [
        r#"{"prices": {"slow": {"by_speed": {"very_fast": 5}}}}"#,
        r#"{"prices": {"SLOW": {"by_speed": {"Very Fast": "5"}}}}"#,
        r#"{"prices": {"Slow": {"by_speed": {"very-fast": 5}}}}"#,
    ] {
        check(&tool, arguments, Some(expected));
    }
    // The schema of a map has no place for the aliases of its names.
    check(&tool, r#"{"prices": {"lazy": {"by_speed": {}}}}"#, None);
    let strict = set_prices::tool().with_metadata(|metadata| metadata.with_coerce(false));
    check(&strict, r#"{"prices": {"SLOW": {"by_speed": {}}}}"#, None);
    let repeated = r#"{"prices": {"slow": {"by_speed": {"slow": 1, "slow": 2}}}}"#;
    let error = call(&tool, repeated).expect_err("a repeated name");
    assert!(error.contains("`prices.slow.by_speed.slow`: given twice"), "{error}");
    let error = call(&tool, r#"{"prices": {"fast": {"by_speed": {}}}}"#).expect_err("no such variant");
    assert!(error.contains("`prices.fast`: there is no such property"), "{error}");
}
