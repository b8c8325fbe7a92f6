//! Values whose type and schema differ: untagged variants, other names, schemas that say more than their types.

use super::argument_promises::{call, check};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use toolkit::ClosureTool;
use toolkit::prelude::*;

#[derive(Debug, ToolParams)]
#[serde(untagged)]
#[allow(dead_code)]
enum NumOrText {
    N(#[param(range = ..=100)] i64),
    T(#[param(length = ..=3)] String),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Limited(#[schemars(range(max = 5))] i64);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Untagged {
    A {
        #[serde(alias = "x")]
        a: Limited,
    },
    B {
        #[schemars(range(max = 5))]
        #[serde(alias = "bb")]
        b: i64,
    },
    L(Vec<Limited>),
}

/// Takes what only its form tells apart.
#[tool(namespace = "forms", coerce = false)]
fn untagged(scalar: Option<NumOrText>, object: Option<Untagged>, list: Option<Vec<Untagged>>) -> String {
    format!("{scalar:?} {object:?} {list:?}")
}

#[test]
fn constraints_hold_in_untagged_variants() {
    for (scalar, fits) in [("100", true), ("101", false), (r#""abc""#, true), (r#""abcd""#, false)] {
        let outcome = call(&untagged::tool(), &format!(r#"{{"scalar": {scalar}}}"#));
        assert_eq!(outcome.is_ok(), fits, "{scalar}: {outcome:?}");
    }
    for (object, fits) in [
        (r#"{"a": 5}"#, true),
        (r#"{"a": 6}"#, false),
        // No schema publishes the name.
        (r#"{"x": 5}"#, false),
        (r#"{"b": 5}"#, true),
        (r#"{"b": 1000000}"#, false),
        (r#"{"bb": 5}"#, false),
        (r#"{"b": 5, "other": 1000000}"#, false),
        ("[5]", true),
        ("[6]", false),
    ] {
        for arguments in
            [format!(r#"{{"object": {object}}}"#), format!(r#"{{"list": [{{"a": 1}}, {object}]}}"#)]
        {
            let outcome = call(&untagged::tool(), &arguments);
            assert_eq!(outcome.is_ok(), fits, "{arguments}: {outcome:?}");
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "k")]
#[allow(dead_code)]
enum Tagged {
    #[serde(alias = "c")]
    Circle {
        #[schemars(range(max = 10))]
        r: u32,
    },
    Dot {
        #[schemars(range(max = 20))]
        r: u32,
    },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Flattened {
    #[serde(flatten)]
    tagged: Tagged,
    #[serde(alias = "nn")]
    #[schemars(range(max = 3))]
    n: Option<u32>,
    #[serde(flatten)]
    more: BTreeMap<String, Value>,
}

/// Takes a variant beside other members.
#[tool(namespace = "forms", coerce = false)]
fn flattened(it: Flattened) -> &'static str {
    let _ = it;
    "taken"
}

#[test]
fn constraints_hold_beside_a_map_of_any_names() {
    for (members, fits) in [
        (r#""k": "Circle", "r": 5"#, true),
        (r#""k": "c", "r": 5"#, false),
        (r#""k": 0, "r": 5"#, false),
        (r#""k": "Circle", "r": 5, "other": 100"#, true),
        (r#""k": "Circle", "r": 11"#, false),
        (r#""k": "Dot", "r": 11, "n": 4"#, false),
        (r#""k": "Dot", "r": 11, "n": null"#, true),
        (r#""k": "Dot", "r": 11, "other": {"n": 100}"#, true),
    ] {
        let outcome = call(&flattened::tool(), &format!(r#"{{"it": {{{members}}}}}"#));
        assert_eq!(outcome.is_ok(), fits, "{members}: {outcome:?}");
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["a"]))]
#[allow(dead_code)]
struct Required {
    a: Option<i64>,
    #[serde(alias = "bb")]
    b: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
#[allow(dead_code)]
struct Closed {
    #[serde(alias = "aa")]
    a: Option<i64>,
}

/// Fields whose schemas say more than their types.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Extended {
    #[schemars(extend("oneOf" = [{"maximum": 3}, {"minimum": 10}]))]
    one: Option<i64>,
    #[schemars(extend("oneOf" = [{"maximum": 5}, {"minimum": 3}]))]
    only: Option<i64>,
    #[schemars(extend("anyOf" = [{"pattern": "^a"}, {"pattern": "^b"}]))]
    any: Option<String>,
    #[schemars(extend("type" = "integer"))]
    integer: Option<f64>,
    #[schemars(with = "Option<i32>")]
    with: Option<f64>,
    #[schemars(with = "Option<u8>")]
    byte: Option<i64>,
    #[schemars(with = "Option<String>")]
    text: Option<Value>,
    #[schemars(extend("format" = "uri-reference"))]
    link: Option<String>,
    #[schemars(extend("contentEncoding" = "base64"))]
    encoded: Option<String>,
    required: Option<Required>,
    closed: Option<Closed>,
    list: Option<Vec<Closed>>,
}

/// Takes schemas that say more than their types.
#[tool(namespace = "forms", coerce = false)]
fn extended(it: Extended) -> &'static str {
    let _ = it;
    "taken"
}

/// Takes its fields.
#[tool(namespace = "forms", coerce = false)]
fn extended_whole(#[param(flatten)] it: Extended) -> &'static str {
    extended(it)
}

#[test]
fn a_schema_that_says_more_than_its_type_is_checked() {
    let closure = ClosureTool::new("extended", "", |it: Extended| extended(it)).expect("a tool");
    let closure = closure.with_metadata(|metadata| metadata.with_coerce(false));
    for (member, fits) in [
        (r#""one": 3"#, true),
        (r#""one": 5"#, false),
        (r#""only": 6"#, true),
        (r#""only": 4"#, false),
        (r#""any": "b""#, true),
        (r#""any": "c""#, false),
        (r#""integer": 1"#, true),
        (r#""integer": 1.5"#, false),
        (r#""integer": null"#, true),
        (r#""with": 7"#, true),
        (r#""with": 1.5"#, false),
        (r#""byte": 255"#, true),
        (r#""byte": 300"#, false),
        (r#""byte": -1"#, false),
        (r#""text": "5""#, true),
        (r#""text": 5"#, false),
        (r#""link": "/a?b#c""#, true),
        (r#""link": "a b""#, false),
        (r#""encoded": "aGk=""#, true),
        (r#""encoded": "%%""#, false),
        (r#""required": {"a": 1}"#, true),
        (r#""required": {"a": 1, "bb": 2}"#, false),
        (r#""required": {"b": 1}"#, false),
        (r#""closed": {"a": 1}"#, true),
        (r#""closed": {"aa": 1}"#, false),
        (r#""closed": {"zz": 1}"#, false),
        (r#""list": [{"a": 1}, {}]"#, true),
        (r#""list": [{"a": 1}, {"zz": 1}]"#, false),
    ] {
        for (tool, arguments) in [
            (&extended::tool() as &dyn Tool, format!(r#"{{"it": {{{member}}}}}"#)),
            (&extended_whole::tool(), format!("{{{member}}}")),
            (&closure, format!("{{{member}}}")),
        ] {
            let outcome = call(tool, &arguments);
            assert_eq!(outcome.is_ok(), fits, "{} {arguments}: {outcome:?}", tool.definition().name);
        }
    }
    assert!(!extended::tool().definition().parameters.to_string().contains("x-toolkit"));
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct TextBound {
    #[schemars(extend("minimum" = "5"))]
    n: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct NoStep {
    #[schemars(extend("multipleOf" = 0))]
    n: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Nowhere {
    #[schemars(extend("$ref" = "#/$defs/Nope"))]
    n: Option<i64>,
}

#[test]
fn a_schema_that_cannot_be_checked_is_a_build_error() {
    let tools = [
        (ClosureTool::new("it", "", |_: TextBound| ()), "minimum"),
        (ClosureTool::new("it", "", |_: NoStep| ()), "multipleOf"),
        (ClosureTool::new("it", "", |_: Nowhere| ()), "$ref"),
    ];
    for (tool, named) in tools {
        let built = ToolRegistry::from_tools([tool.expect("a tool")]);
        let error = built.expect_err(named).to_string();
        assert!(error.contains("`it`") && error.contains(named), "{error}");
    }
}

#[derive(Debug, ToolParams)]
enum Step {
    #[serde(alias = "big step")]
    Small,
    BigStep,
}

/// Takes another name that is like an own one.
#[tool(namespace = "forms")]
fn step(step: Step, count: Option<i64>, then: Option<Vec<Step>>) -> String {
    let then = then.map(|then| format!(" {then:?}"));
    format!("{step:?} {count:?}{}", then.unwrap_or_default())
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Stepped {
    step: Step,
    count: Option<i64>,
    then: Option<Vec<Step>>,
}

#[test]
fn coercion_never_changes_what_the_type_accepts() {
    let closure =
        ClosureTool::new("step", "", |it: Stepped| step(it.step, it.count, it.then)).expect("a tool");
    for (arguments, expected) in [
        (r#"{"step": "big step"}"#, Some("Small None")),
        (r#"{"step": "big step", "count": "5"}"#, Some("Small Some(5)")),
        (r#"{"step": "BIG-STEP"}"#, Some("BigStep None")),
        (r#"{"step": "BIG-STEP", "count": "5"}"#, Some("BigStep Some(5)")),
        (r#"{"step": "bigger"}"#, None),
        (
            r#"{"step": "BIG-STEP", "then": ["big step", "Small", "SMALL"]}"#,
            Some("BigStep None [Small, Small, Small]"),
        ),
        (r#"{"step": "big step", "then": ["BIG_STEP", "big step"]}"#, Some("Small None [BigStep, Small]")),
    ] {
        check(&step::tool(), arguments, expected);
        check(&closure, arguments, expected);
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Inner {
    #[serde(default)]
    n: i64,
    o: Option<i64>,
    m: Option<BTreeMap<String, i64>>,
}

/// Takes names at every depth.
#[tool(namespace = "forms")]
fn names(i: Option<Inner>, m: Option<BTreeMap<String, i64>>, v: Option<Value>) -> String {
    format!("{i:?} {m:?} {v:?}")
}

#[test]
fn a_repeated_name_is_refused_at_every_depth() {
    let closure =
        ClosureTool::new("names", "", |(it, more): (Inner, Option<Value>)| format!("{it:?} {more:?}"));
    assert!(closure.is_err(), "a list is no object");
    for (arguments, path) in [
        (r#"{"i": {"n": null, "n": 5}}"#, "i.n"),
        (r#"{"i": {"n": 5, "n": 5}}"#, "i.n"),
        (r#"{"i": {"o": 5, "o": null}}"#, "i.o"),
        (r#"{"i": {"m": {"a": "1", "a": 2}}}"#, "i.m.a"),
        (r#"{"i": {"m": {"a": 1, "a": 2}}}"#, "i.m.a"),
        (r#"{"i": "{\"n\": 1, \"n\": 2}"}"#, "i.n"),
        (r#"{"m": {"a": 1, "a": 2}}"#, "m.a"),
        (r#"{"v": [{"a": 1, "a": 2}]}"#, "v[0].a"),
        (r#"{"m": {"a": 1}, "m": {"a": 2}}"#, "m"),
    ] {
        let refused = call(&names::tool(), arguments).expect_err(arguments);
        assert!(refused.contains(&format!("`{path}`: given twice")), "{arguments}: {refused}");
    }
}

/// Takes a ratio.
#[tool(namespace = "forms")]
fn ratio(#[param(range = 0.1..0.3)] ratio: f64) -> String {
    ratio.to_string()
}

#[test]
fn a_bound_is_compared_with_every_digit() {
    check(&ratio::tool(), r#"{"ratio": 0.29}"#, Some("0.29"));
    for number in ["0.3", "0.30000000000000000001"] {
        check(&ratio::tool(), &format!(r#"{{"ratio": {number}}}"#), None);
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code)]
enum Figure {
    BigCircle { r: i64 },
    SmallDot,
}

/// Takes a figure.
#[tool(namespace = "forms")]
fn figure(figure: Figure) -> String {
    format!("{figure:?}")
}

/// Takes a figure as it is.
#[tool(namespace = "forms", coerce = false)]
fn figure_strictly(figure: Figure) -> String {
    format!("{figure:?}")
}

#[test]
fn words_and_wrappers_are_near_misses() {
    let figure_text = r#"{"figure": {"BigCircle": {"r": "1"}}}"#;
    check(&figure::tool(), figure_text, Some("BigCircle { r: 1 }"));
    check(&figure_strictly::tool(), figure_text, None);
    let plain = r#"{"figure": "small_dot"}"#;
    let quoted = Value::from(plain).to_string();
    let fenced_inside = Value::from(format!("```json\n{plain}\n```")).to_string();
    for arguments in
        [quoted, fenced_inside, format!("``` json\n{plain}\n```"), format!("```json\n{plain}\n```")]
    {
        check(&figure::tool(), &arguments, Some("SmallDot"));
        check(&figure_strictly::tool(), &arguments, None);
    }
}

/// Takes a time, and a number at depth.
#[tool(namespace = "forms")]
fn messages(time: Option<std::time::Duration>, inner: Option<Inner>, figure: Option<Figure>) -> String {
    format!("{time:?} {inner:?} {figure:?}")
}

#[test]
fn a_refusal_says_what_is_wanted() {
    for (arguments, message) in [
        (r#"{"time": "5s"}"#, r#"`time`: expected object, got string "5s""#),
        (
            r#"{"inner": {"n": 9223372036854775808}}"#,
            "`inner.n`: invalid value: integer `9223372036854775808`, expected i64",
        ),
        (r#"{"figure": {"big_circle": {"r": 1}, "other": 1}}"#, "`figure.other`: there is no such property"),
    ] {
        let refused = call(&messages::tool(), arguments).expect_err(arguments);
        assert!(refused.contains(message), "{arguments}: {refused}");
    }
}

/// Returns a schema whose parameter `v` is an integer behind many references, each inside of an `allOf`.
#[cfg(feature = "jsonschema")]
fn chained(links: usize) -> Value {
    let link = |index: usize| serde_json::json!({"allOf": [{"$ref": format!("#/$defs/{}", index + 1)}]});
    let mut definitions: serde_json::Map<String, Value> =
        (0..links).map(|index| (index.to_string(), link(index))).collect();
    definitions.insert(links.to_string(), serde_json::json!({"type": "integer"}));
    serde_json::json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/0"}}, "$defs": definitions})
}

#[cfg(feature = "jsonschema")]
#[test]
fn a_schema_too_deep_for_the_stack_is_a_build_error() {
    use toolkit::DynamicTool;

    let calls = || {
        let build = |schema| DynamicTool::new("deep", "", schema, |it: Value| it.to_string());
        let tool = build(chained(10)).expect("a schema of some depth").with_coerce(true);
        check(&tool, r#"{"v": "1"}"#, Some(r#"{"v":1}"#));
        check(&tool, r#"{"v": "x"}"#, None);
        let mut nested = serde_json::json!({"type": "integer"});
        for _ in 0..1_500 {
            nested = Value::Object([("allOf".to_owned(), Value::Array(vec![nested]))].into_iter().collect());
        }
        for schema in [chained(3_000), nested] {
            let error = build(schema).expect_err("the schema is too deep").to_string();
            assert!(error.contains("`deep`") && error.contains("too deep"), "{error}");
        }
    };
    let small = std::thread::Builder::new().stack_size(2 << 20).spawn(calls).expect("a thread");
    small.join().expect("no stack overflows");
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Sizes {
    wide: Option<u64>,
    single: Option<f32>,
    double: Option<f64>,
    list: Option<Vec<f32>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Buffered {
    #[serde(flatten)]
    sizes: Sizes,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code)]
enum TaggedSizes {
    Sizes(Sizes),
    None,
}

/// Takes numbers that serde buffers as doubles.
#[tool(namespace = "forms")]
fn sizes(flat: Option<Buffered>, tagged: Option<TaggedSizes>, plain: Option<Sizes>) -> String {
    format!("{flat:?} {tagged:?} {plain:?}")
}

#[test]
fn a_number_beyond_its_type_is_named_wherever_it_stands() {
    let whole = ClosureTool::new("sizes", "", |it: Buffered| format!("{it:?}")).expect("a tool");
    let of = |place: &str, members: &str| match place {
        "" => format!("{{{members}}}"),
        "tagged" => format!(r#"{{"tagged": {{"kind": "Sizes", {members}}}}}"#),
        place => format!(r#"{{"{place}": {{{members}}}}}"#),
    };
    for place in ["flat", "tagged", "plain", ""] {
        let tool: &dyn Tool = if place.is_empty() { &whole } else { &sizes::tool() };
        for (name, value) in [
            ("wide", "18446744073709551616"),
            ("wide", "1e30"),
            ("wide", "\"18446744073709551616\""),
            ("single", "1e39"),
            ("single", "-1e300"),
            ("single", "\"1e39\""),
            ("double", "1e400"),
            ("double", "\"1e400\""),
            ("double", "\"-1e400\""),
            ("list[1]", "1e39"),
        ] {
            let members = match name {
                "list[1]" => format!(r#""list": [1, {value}]"#),
                name => format!(r#""{name}": {value}"#),
            };
            let error = call(tool, &of(place, &members)).expect_err("beyond the type");
            let dot = if place.is_empty() { "" } else { "." };
            // Serde buffers the members of a flattened or tagged type, and does not say which one it refuses.
            let is_buffered = error.contains("floating point") && error.contains("expected u64");
            let named = format!("`{place}{dot}{name}`: ");
            assert!(error.contains(&named) || is_buffered && place != "plain", "{place} {members}: {error}");
        }
        for members in [
            r#""single": 3.4e38"#,
            r#""double": 1e300"#,
            r#""list": [1.5, -3.4e38]"#,
            r#""wide": 18446744073709551615"#,
        ] {
            call(tool, &of(place, members)).expect("within the type");
        }
        assert!(!tool.definition().parameters.to_string().contains("x-toolkit"));
    }
}
