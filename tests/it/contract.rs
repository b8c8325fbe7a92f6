//! A tool takes what its schema publishes: every keyword is checked, and nothing else is read.

use super::calling::{call, check, check_fits};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use toolkit_ai::definition::UnknownArguments;
use toolkit_ai::prelude::*;
use toolkit_ai::{ClosureTool, DynamicTool, ToolDefinition, ToolFuture, ToolName, ToolProvider};

/// Keywords beyond the type.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Extended {
    #[schemars(extend("not" = {"const": "root"}))]
    not: Option<String>,
    #[schemars(extend("const" = "yes"))]
    only: Option<String>,
    #[schemars(extend("enum" = ["a\\b", "c"]))]
    listed: Option<String>,
    #[schemars(extend("uniqueItems" = true))]
    different: Option<Vec<u8>>,
    set: Option<BTreeSet<u8>>,
    #[schemars(extend("contains" = {"const": 7}, "maxContains" = 2))]
    lucky: Option<Vec<u8>>,
    #[schemars(extend("propertyNames" = {"maxLength": 2}))]
    short_names: Option<BTreeMap<String, u8>>,
    #[schemars(extend("dependentRequired" = {"a": ["b"]}))]
    together: Option<BTreeMap<String, u8>>,
    #[schemars(extend("dependentSchemas" = {"a": {"maxProperties": 1}}))]
    alone: Option<BTreeMap<String, u8>>,
    #[schemars(extend("patternProperties" = {"^x": {"maximum": 3}}))]
    by_name: Option<BTreeMap<String, u8>>,
    #[schemars(extend("if" = {"minimum": 10}, "then" = {"multipleOf": 10}, "else" = {"maximum": 5}))]
    stepped: Option<u8>,
    #[schemars(extend("allOf" = [{"maxLength": 2}]))]
    both: Option<String>,
    #[schemars(extend("oneOf" = [{"maximum": 5}, {"minimum": 3}]))]
    one: Option<i64>,
    #[schemars(extend("anyOf" = [{"pattern": "^a"}, {"pattern": "^b"}]))]
    any: Option<String>,
    #[schemars(extend("type" = "integer"))]
    integer: Option<f64>,
    #[schemars(with = "Option<u8>")]
    byte: Option<i64>,
    #[schemars(with = "Option<String>")]
    text: Option<Value>,
    #[schemars(extend("format" = "uri-reference"))]
    link: Option<String>,
    #[schemars(extend("contentEncoding" = "base64"))]
    encoded: Option<String>,
    numbers: Option<BTreeMap<i32, u8>>,
    answers: Option<BTreeMap<bool, u8>>,
    list: Option<Vec<Closed>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false, "required" = ["a"]))]
#[allow(dead_code)]
struct Closed {
    a: Option<i64>,
    b: Option<i64>,
}

/// A valid and an invalid value for each keyword.
const KEYWORDS: [(&str, &str, &str); 24] = [
    ("not", r#""user""#, r#""root""#),
    ("only", r#""yes""#, r#""no""#),
    ("listed", r#""a\\b""#, r#""a\b""#),
    ("different", "[1, 2]", "[1, 1]"),
    ("set", "[1, 2]", "[1, 1]"),
    ("lucky", "[1, 7]", "[1]"),
    ("lucky", "[7, 7]", "[7, 7, 7]"),
    ("short_names", r#"{"ab": 1}"#, r#"{"abc": 1}"#),
    ("together", r#"{"a": 1, "b": 1}"#, r#"{"a": 1}"#),
    ("alone", r#"{"a": 1}"#, r#"{"a": 1, "b": 1}"#),
    ("by_name", r#"{"y": 9, "x": 3}"#, r#"{"x": 4}"#),
    ("stepped", "20", "15"),
    ("stepped", "5", "7"),
    ("both", r#""ab""#, r#""abc""#),
    ("one", "6", "4"),
    ("any", r#""b""#, r#""c""#),
    ("integer", "1", "1.5"),
    ("byte", "255", "-1"),
    ("text", r#""5""#, "5"),
    ("link", r#""/a?b#c""#, r#""a b""#),
    ("encoded", r#""aGk=""#, r#""%%""#),
    ("numbers", r#"{"1": 1}"#, r#"{"1x": 1}"#),
    ("answers", r#"{"true": 1}"#, r#"{"maybe": 1}"#),
    ("list", r#"[{"a": 1}, {"a": 2, "b": 3}]"#, r#"[{"a": 1}, {"b": 3}]"#),
];

/// Takes a value.
#[tool(register = false, coerce = false)]
fn extended(it: Extended) -> &'static str {
    let _ = it;
    "taken"
}

/// Takes its fields.
#[tool(register = false, coerce = false)]
fn extended_whole(#[param(flatten)] it: Extended) -> &'static str {
    extended(it)
}

#[test]
fn every_published_keyword_is_checked() {
    let closure = ClosureTool::new("closure", "", |it: Extended| extended(it)).expect("a tool");
    let closure = closure.map_metadata(|metadata| metadata.with_coerce(false));
    for (name, valid, invalid) in KEYWORDS {
        for (value, fits) in [(valid, true), (invalid, false)] {
            let members = format!(r#"{{"{name}": {value}}}"#);
            check_fits(&extended::tool(), &format!(r#"{{"it": {members}}}"#), fits);
            check_fits(&extended_whole::tool(), &members, fits);
            check_fits(&closure, &members, fits);
        }
    }
    assert!(!extended::tool().definition().parameters.to_string().contains("x-toolkit"));
}

#[derive(Debug, ToolParams)]
enum Unit {
    #[serde(alias = "C")]
    Celsius,
    Fahrenheit,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Plain {
    #[serde(alias = "C")]
    Celsius,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code)]
enum Shape {
    #[serde(alias = "c")]
    Circle {
        #[schemars(range(max = 10))]
        #[serde(alias = "r")]
        radius: u32,
    },
    Square {
        #[schemars(range(max = 20))]
        side: u32,
    },
}

#[derive(Debug, ToolParams)]
#[serde(untagged)]
#[allow(dead_code)]
enum Untagged {
    Narrow {
        a: Inner,
    },
    Wide {
        #[param(range = ..=5)]
        #[serde(alias = "bb")]
        b: Option<i64>,
    },
    Number(#[param(range = ..=100)] i64),
    Text(#[param(length = ..=3)] String),
    List(Vec<Inner>),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Inner(#[schemars(range(max = 5))] i64);

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Pair {
    from: i64,
    #[serde(alias = "t")]
    #[schemars(range(max = 5))]
    to: Option<i64>,
}

#[derive(Debug, ToolParams)]
#[allow(dead_code)]
struct Named {
    #[param(alias = "n", range = ..=9)]
    number: Option<u32>,
    unit: Option<Unit>,
    plain: Option<Plain>,
    shape: Option<Shape>,
    untagged: Option<Untagged>,
    pair: Option<Pair>,
    flat: Option<Flattened>,
    map: Option<BTreeMap<String, i64>>,
    any: Option<Value>,
    then: Option<Box<Self>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Flattened {
    #[serde(flatten)]
    shape: Shape,
    #[schemars(range(max = 3))]
    n: Option<u32>,
    #[serde(flatten)]
    more: BTreeMap<String, Value>,
}

/// Takes values under several names.
#[tool(register = false, coerce = false)]
fn named(named: Named) -> &'static str {
    let _ = named;
    "taken"
}

/// Takes its fields.
#[tool(register = false, coerce = false)]
fn named_whole(#[param(flatten)] it: Named) -> &'static str {
    named(it)
}

/// Calls tools with the members, alone and inside another object.
#[track_caller]
fn check_named(members: &str, fits: bool) {
    check_fits(&named::tool(), &format!(r#"{{"named": {{{members}}}}}"#), fits);
    check_fits(&named_whole::tool(), &format!("{{{members}}}"), fits);
    check_fits(&named_whole::tool(), &format!(r#"{{"then": {{{members}}}}}"#), fits);
}

#[test]
fn only_published_names_and_declared_aliases_are_read() {
    for (members, fits) in [
        (r#""number": 9"#, true),
        (r#""number": 10"#, false),
        // `ToolParams` declares aliases, unlike `JsonSchema` alone.
        (r#""n": 9"#, true),
        (r#""n": 10"#, false),
        (r#""unit": "C""#, true),
        (r#""unit": "K""#, false),
        (r#""plain": "Celsius""#, true),
        (r#""plain": "C""#, false),
        (r#""plain": "any""#, false),
        (r#""other": 10"#, false),
        (r#""shape": {"kind": "Circle", "radius": 10}"#, true),
        (r#""shape": {"kind": "Circle", "radius": 11}"#, false),
        (r#""shape": {"kind": "Circle", "r": 10}"#, false),
        (r#""shape": {"kind": "c", "radius": 10}"#, false),
        // Other forms that serde reads.
        (r#""shape": {"kind": 0, "radius": 10}"#, false),
        (r#""pair": [1, 2]"#, false),
        (r#""pair": {"from": 1, "to": 5}"#, true),
        (r#""pair": {"from": 1, "t": 5}"#, false),
        (r#""pair": {"from": 1, "more": 5}"#, false),
    ] {
        check_named(members, fits);
    }
}

#[test]
fn a_value_of_an_untagged_enum_is_held_to_the_first_variant_whose_form_it_has() {
    for (value, fits) in [
        (r#"{"a": 5}"#, true),
        (r#"{"a": 6}"#, false),
        (r#"{"b": 5}"#, true),
        (r#"{"bb": 5}"#, true),
        (r#"{"bb": 1000000}"#, false),
        (r#"{"b": 5, "other": 1000000}"#, false),
        ("100", true),
        ("101", false),
        (r#""abc""#, true),
        (r#""abcd""#, false),
        ("[5]", true),
        ("[6]", false),
    ] {
        check_named(&format!(r#""untagged": {value}"#), fits);
    }
}

#[test]
fn constraints_hold_beside_a_map_of_any_names() {
    for (members, fits) in [
        (r#""kind": "Circle", "radius": 10, "other": 100"#, true),
        (r#""kind": "Circle", "radius": 11"#, false),
        (r#""kind": "Square", "side": 20, "n": 4"#, false),
        (r#""kind": "Square", "side": 20, "n": null"#, true),
        (r#""kind": "Square", "side": 20, "other": {"n": 100}"#, true),
    ] {
        check_named(&format!(r#""flat": {{{members}}}"#), fits);
    }
}

#[test]
fn unknown_members_are_dropped_on_request_except_below_an_untagged_enum() {
    let ignoring = named_whole::tool().map_metadata(|it| it.with_unknown(UnknownArguments::Ignore));
    for (members, fits) in [
        (r#"{"other": 1, "number": 9}"#, true),
        (r#"{"other": 1, "number": 10}"#, false),
        (r#"{"pair": {"from": 1, "more": {"a": 1}}}"#, true),
        (r#"{"untagged": {"a": 5, "more": 1}}"#, false),
    ] {
        check_fits(&ignoring, members, fits);
    }
}

#[test]
fn a_name_given_twice_is_refused_at_every_depth() {
    for (members, path) in [
        (r#""number": null, "number": 5"#, "number"),
        (r#""n": 5, "number": 5"#, "number"),
        (r#""pair": {"from": 5, "from": 5}"#, "pair.from"),
        (r#""map": {"a": 1, "a": "2"}"#, "map.a"),
        (r#""any": [{"a": 1, "\u0061": 2}]"#, "any[0].a"),
    ] {
        let dynamic = DynamicTool::new("any", "", json!({"type": "object"}), |any: Value| any.to_string());
        let coerced = named_whole::tool().map_metadata(|it| it.with_coerce(true));
        let tools: [&dyn Tool; 3] = [&named_whole::tool(), &coerced, &dynamic.expect("a schema")];
        // A foreign schema's aliases are unknown.
        for tool in &tools[..if members.contains(r#""n":"#) { 2 } else { 3 }] {
            let refused = call(*tool, &format!("{{{members}}}")).expect_err(members);
            assert!(
                refused.contains(&format!("`{path}`: given twice; give it once")),
                "{members}: {refused}"
            );
        }
    }
}

/// Takes numbers of every size.
#[tool(register = false)]
#[allow(clippy::too_many_arguments)]
fn sizes(
    #[param(range = 0..=3000000000)] unsigned: Option<u64>,
    #[param(range = -3000000000..=0xFFFFFFFFF)] signed: Option<i64>,
    #[param(range = ..=9_007_199_254_740_993_u64)] large: Option<u64>,
    #[param(multiple_of = 2)] even: Option<u64>,
    #[param(range = ..=18446744073709551615)] wide: Option<u128>,
    #[param(multiple_of = 0.1)] tenth: Option<f64>,
    #[param(range = 0.1..0.3)] share: Option<f64>,
    #[param(one_of = [0.5, 1.0])] part: Option<f64>,
    #[param(default = u128::MAX)] most: u128,
) -> String {
    format!("{unsigned:?}{signed:?}{large:?}{even:?}{wide:?}{tenth:?}{share:?}{part:?}{most}")
}

#[test]
fn numbers_of_every_size_are_compared_digit_by_digit() {
    for (name, inside, outside) in [
        ("unsigned", "3000000000", "3000000001"),
        ("signed", "-3000000000", "-3000000001"),
        ("signed", "68719476735", "68719476736"),
        ("large", "9007199254740993", "9007199254740994"),
        ("even", "18446744073709551614", "18446744073709551615"),
        ("even", "2", "18446744073709551616"),
        ("wide", "18446744073709551615", "100000000000000000000001"),
        ("wide", "18446744073709551614", "\"18446744073709551616\""),
        ("tenth", "123456789012.7", "0.30000000001"),
        ("share", "0.29", "0.30000000000000000001"),
        ("part", "1", "2"),
        ("tenth", "1e300", "1e400"),
    ] {
        check_fits(&sizes::tool(), &format!(r#"{{"{name}": {inside}}}"#), true);
        let refused = call(&sizes::tool(), &format!(r#"{{"{name}": {outside}}}"#)).expect_err(outside);
        assert!(refused.contains(&format!("`{name}`: ")), "{outside}: {refused}");
    }
    let schema = sizes::tool().definition().parameters.clone();
    assert_eq!(schema["properties"]["most"].get("default"), None, "JSON cannot hold it");
    assert_eq!(schema.get("required"), None);
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(dead_code)]
enum Expression {
    Number {
        #[schemars(range(max = 1000))]
        value: i64,
    },
    Negate {
        inner: Box<Self>,
    },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Tree {
    Number(i64),
    One { one: Box<Self> },
    Other { other: Vec<u8> },
    Many(Vec<Self>),
}

/// Takes trees.
#[tool(register = false)]
fn trees(expression: Option<Expression>, tree: Option<Tree>, any: Option<Value>) -> &'static str {
    drop((expression, tree, any));
    "taken"
}

fn nested(before: &str, inner: &str, after: &str, depth: usize) -> String {
    format!("{}{inner}{}", before.repeat(depth), after.repeat(depth))
}

/// Work that doubles with each level would not end.
#[test]
fn checks_and_coercion_are_not_exponential_in_the_depth() {
    for (leaf, fits) in [("1", true), (r#""1""#, true), (r#""x""#, false)] {
        let number = format!(r#"{{"kind": "number", "value": {leaf}}}"#);
        let negated = nested(r#"{"kind": "negate", "inner": "#, &number, "}", 50);
        check_fits(&trees::tool(), &format!(r#"{{"expression": {negated}}}"#), fits);
        for (before, after) in [(r#"{"one": "#, "}"), ("[", "]")] {
            check_fits(&trees::tool(), &format!(r#"{{"tree": {}}}"#, nested(before, leaf, after, 40)), fits);
        }
    }
    let branch = |more: Value| {
        let mut branch = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/Tree"}}});
        branch.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        branch
    };
    let branches =
        [json!({"required": ["k"]}), json!({"maxProperties": 1}), json!({"additionalProperties": false})];
    let branches: Vec<Value> = branches.into_iter().map(branch).chain([json!({"type": "integer"})]).collect();
    let schema = json!({
        "type": "object", "properties": {"tree": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": {"anyOf": branches}},
    });
    for coerce in [false, true] {
        let tool = DynamicTool::new("tree", "", schema.clone(), |_: Value| "taken").expect("a schema");
        for (leaf, fits) in [("1", true), (r#""x""#, false), (r#""1""#, coerce)] {
            let arguments = format!(r#"{{"tree": {}}}"#, nested(r#"{"a": "#, leaf, "}", 40));
            check_fits(&tool.clone().with_coerce(coerce), &arguments, fits);
        }
    }
}

#[test]
fn a_value_deeper_than_the_stack_is_refused_with_its_other_violations() {
    let calls = || {
        for (depth, fits) in [(100, true), (200, false), (100_000, false)] {
            let deep = nested("[", "", "]", depth);
            check_fits(&trees::tool(), &format!(r#"{{"any": {deep}}}"#), fits);
            let arguments = format!(r#"{{"any": {deep}, "tree": true}}"#);
            let refused = call(&trees::tool(), &arguments).expect_err("`tree` is no boolean");
            assert!(!fits || refused.contains("`tree`"), "{refused}");
        }
    };
    let small = std::thread::Builder::new().stack_size(2 << 20).spawn(calls).expect("a thread");
    small.join().expect("no stack overflows");
}

struct Server(Value);

impl ToolProvider for Server {
    fn tools(&self) -> Vec<ToolDefinition> {
        let schema = json!({"type": "object", "properties": {"it": self.0}});
        vec![ToolDefinition::new(ToolName::new("faulty").expect("legal"), "Remote.", schema)]
    }

    fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(call.arguments.to_string().into()))
    }
}

macro_rules! faulty {
    ($($of:ty, $attribute:meta;)*) => {[$({
        #[derive(Debug, Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Faulty {
            #[$attribute]
            it: $of,
        }
        ToolRegistry::from_tools([ClosureTool::new("faulty", "", |_: Faulty| ()).expect("a tool")])
    }),*]};
}

#[test]
fn a_schema_that_cannot_be_checked_is_a_build_error_that_names_the_place() {
    let typed = faulty! {
        Option<i64>, schemars(extend("minimum" = "5"));
        Option<i64>, schemars(extend("multipleOf" = 0));
        Option<i64>, schemars(extend("$ref" = "#/$defs/Nope"));
        String, schemars(extend("pattern" = "("));
    };
    let foreign = [
        json!({"type": "intger", "maximum": 5}),
        json!({"type": "integer", "minimum": "1"}),
        json!({"type": "object", "required": "a"}),
        json!({"$ref": "#/$defs/missing"}),
    ];
    let foreign = foreign
        .map(|schema| ToolRegistry::new().register_provider(Server(schema)).map(|()| ToolRegistry::new()));
    for built in typed.into_iter().chain(foreign) {
        let error = built.expect_err("the schema is faulty").to_string();
        assert!(error.contains("`faulty`") && error.contains("properties/it"), "{error}");
    }
}

#[test]
fn a_schema_too_deep_for_the_stack_is_a_build_error() {
    let chained = |links: usize| {
        let link = |index: usize| json!({"allOf": [{"$ref": format!("#/$defs/{}", index + 1)}]});
        let mut definitions: Value = (0..links).map(|index| (index.to_string(), link(index))).collect();
        definitions[links.to_string()] = json!({"type": "integer"});
        json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/0"}}, "$defs": definitions})
    };
    let build = move || {
        let build = |links| DynamicTool::new("deep", "", chained(links), |it: Value| it.to_string());
        check(&build(10).expect("of some depth").with_coerce(true), r#"{"v": "1"}"#, Some(r#"{"v":1}"#));
        for links in [42, 43, 3_000] {
            let built = build(links);
            assert_eq!(built.is_ok(), links < 42, "{links}");
            let error = built.expect_err("the schema is too deep").to_string();
            assert!(error.contains("`deep`") && error.contains("too deep at `#/properties/v`"), "{error}");
        }
        build(41).expect("of the maximum depth");
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(build)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

#[test]
fn a_chain_of_references_through_values_has_any_length() {
    let chained = |links: usize| {
        let link = |index: usize| json!({"anyOf": [{"type": "array", "items": {"$ref": format!("#/$defs/{}", index + 1)}}, {"type": "null"}]});
        let mut definitions: Value = (0..links).map(|index| (index.to_string(), link(index))).collect();
        definitions[links.to_string()] = json!({"type": "integer"});
        json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/0"}}, "$defs": definitions})
    };
    let build = move || {
        for links in [40, 600, 3_000] {
            let tool = DynamicTool::new("chain", "", chained(links), |it: Value| it.to_string());
            let registry =
                ToolRegistry::from_tools([tool.expect("a chain of any length")]).expect("a legal name");
            let nested = |leaf: &str| format!(r#"{{"v":{}{leaf}{}}}"#, "[".repeat(40), "]".repeat(40));
            assert_eq!(registry.validate("chain", &nested("null")).is_ok(), links > 40, "{links}");
            assert_eq!(registry.validate("chain", &nested("1")).is_ok(), links == 40, "{links}");
        }
    };
    let small = std::thread::Builder::new().stack_size(2 << 20).spawn(build);
    small.expect("a thread").join().expect("no overflow");
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Patterned {
    #[schemars(regex(pattern = r"^(?!root)\w+$"))]
    name: String,
}

#[test]
fn a_validator_checks_patterns_with_look_around() {
    let tool = ClosureTool::new("it", "", |_: Patterned| "taken").expect("the validator knows the pattern");
    check_fits(&tool, r#"{"name": "user"}"#, true);
    check_fits(&tool, r#"{"name": "rooty"}"#, false);
}

#[test]
fn a_dynamic_tool_checks_formats_and_keeps_members_that_it_does_not_know() {
    for (format, good, bad) in [
        ("date", "2026-11-26", "2026-13-26"),
        ("email", "a@example.com", "a at example.com"),
        ("uuid", "67e55044-10b1-426f-9247-bb680e5fe0c8", "67e55044"),
    ] {
        let schema = json!({"type": "object", "properties": {"it": {"type": "string", "format": format}}});
        let tool = DynamicTool::new("note", "", schema, |it: Value| it.to_string()).expect("a schema");
        let given = json!({"it": good, "more": 1}).to_string();
        check(&tool, &given, Some(&given));
        let error = call(&tool, &json!({"it": bad}).to_string()).expect_err(bad);
        assert!(error.contains("`it`") && error.contains(format), "{error}");
    }
}
