//! No wrong argument is accepted and no valid one refused: numbers of every size, every published keyword,
//! deep values.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use toolkit::ClosureTool;
use toolkit::prelude::*;

/// Calls a tool without a dispatcher. Returns the output as text, or the message of the error.
pub(super) fn call(tool: &dyn Tool, arguments: &str) -> Result<String, String> {
    let context = ToolContext::new(tool.definition().name.clone());
    let outcome = tool.call(arguments, &context).try_ready().expect("the tool is synchronous");
    outcome.map(|output| output.to_text().into_owned()).map_err(|error| error.message().to_owned())
}

#[track_caller]
pub(super) fn check(tool: &dyn Tool, arguments: &str, expected: Option<&str>) {
    let outcome = call(tool, arguments);
    assert_eq!(outcome.as_deref().ok(), expected, "{arguments}: {outcome:?}");
}

/// Calls the only tool of a registry through a dispatcher. The call must succeed. Returns the coerced parameters
/// as the event of the call's end reports them.
pub(super) async fn reported_coercions(tool: Arc<dyn Tool>, arguments: &str) -> Value {
    let name = tool.definition().name.to_string();
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools([tool]).expect("one tool")).expect("one tool");
    let mut events = dispatcher.events();
    let result = dispatcher.dispatch([ToolCall::new("1", name, arguments)]).await;
    assert!(result[0].error().is_none(), "{arguments}: {result:?}");
    drop(dispatcher);
    let mut reported = None;
    while let Some(Ok(event)) = events.next().await {
        if event.end().is_some() {
            reported = Some(serde_json::to_value(event).expect("it is JSON")["coerced"].clone());
        }
    }
    reported.expect("the call has ended")
}

/// Takes the widest integers.
#[tool(namespace = "promises")]
fn wide(signed: Option<i128>, unsigned: Option<u128>) -> String {
    format!("{signed:?} {unsigned:?}")
}

/// Takes the widest integers as they are.
#[tool(namespace = "promises", coerce = false)]
fn wide_strictly(signed: Option<i128>, unsigned: Option<u128>) -> String {
    wide(signed, unsigned)
}

#[test]
fn wide_integers_are_read_completely() {
    let most = "340282366920938463463374607431768211455";
    for (arguments, coerced, strictly) in [
        (r#"{"signed": 1e18}"#.to_owned(), Some("Some(1000000000000000000) None".to_owned()), false),
        (r#"{"signed": 1.5}"#.to_owned(), None, false),
        (r#"{"unsigned": "2.9e3"}"#.to_owned(), Some("None Some(2900)".to_owned()), false),
        (format!(r#"{{"unsigned": {most}}}"#), Some(format!("None Some({most})")), true),
        (format!(r#"{{"unsigned": {most}0}}"#), None, false),
        (r#"{"signed": -1 , "unsigned": 7}"#.to_owned(), Some("Some(-1) Some(7)".to_owned()), true),
    ] {
        check(&wide::tool(), &arguments, coerced.as_deref());
        check(&wide_strictly::tool(), &arguments, coerced.as_deref().filter(|_| strictly));
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Inner {
    number: Option<i64>,
    list: Option<Vec<i64>>,
    map: Option<std::collections::BTreeMap<String, i64>>,
    ratio: Option<f64>,
}

/// Takes numbers at every depth.
#[tool(namespace = "promises")]
fn deep(number: Option<i64>, inner: Option<Inner>, any: Option<Value>) -> String {
    format!("{number:?} {:?} {any:?}", inner.map(|inner| (inner.number, inner.list, inner.map, inner.ratio)))
}

#[test]
fn coercion_is_the_same_at_every_depth() {
    for (text, number) in [
        ("5.0", Some(5)),
        (r#""5""#, Some(5)),
        (r#"" 5.0 ""#, Some(5)),
        ("1e3", Some(1000)),
        ("9007199254740993.0", Some(9_007_199_254_740_993)),
        ("4.9999999999999999999", None),
        ("5.0000000000000000001", None),
        ("1.5e-2147483648", None),
        ("1e2147483648", None),
        ("1.5e-99999999999999999999", None),
        (r#""1.5e-2147483648""#, None),
        ("5.5", None),
    ] {
        let shown = |number: i64| format!("Some({number}) None None");
        check(&deep::tool(), &format!(r#"{{"number": {text}}}"#), number.map(shown).as_deref());
        let shown = |number: i64| format!("None Some((Some({number}), None, None, None)) None");
        let inside = format!(r#"{{"inner": {{"number": {text}}}}}"#);
        check(&deep::tool(), &inside, number.map(shown).as_deref());
        let shown = |number: i64| format!("None Some((None, Some([{number}]), None, None)) None");
        let inside = format!(r#"{{"inner": {{"list": [{text}]}}}}"#);
        check(&deep::tool(), &inside, number.map(shown).as_deref());
    }
}

#[test]
fn no_member_is_lost_to_coercion() {
    for arguments in [
        r#"{"inner": {"number": 1, "number": "2"}}"#,
        r#"{"inner": {"number": "1", "number": 2}}"#,
        r#"{"inner": "{\"number\": 1, \"number\": \"2\"}"}"#,
    ] {
        let refused = call(&deep::tool(), arguments).expect_err("two values of one name are no value");
        assert!(refused.contains("`inner.number`: given twice; give it once"), "{refused}");
    }
}

/// Takes numbers with constraints.
#[tool(namespace = "promises")]
fn bounded(
    #[param(range = ..=18_446_744_073_709_551_615_u64)] wide: Option<u128>,
    #[param(range = 10_000_000_000_000_000_000_u64..)] large: Option<u64>,
    #[param(multiple_of = 0.1)] tenth: Option<f64>,
    #[param(multiple_of = 0.01)] cents: Option<f64>,
    ratio: Option<f64>,
    single: Option<f32>,
) -> String {
    format!("{wide:?} {large:?} {tenth:?} {cents:?} {ratio:?} {single:?}")
}

#[test]
fn numbers_of_every_size_keep_their_constraints() {
    for (arguments, fits) in [
        (r#"{"wide": 18446744073709551615}"#, true),
        (r#"{"wide": 18446744073709551616}"#, false),
        (r#"{"wide": "18446744073709551616"}"#, false),
        (r#"{"wide": 340282366920938463463374607431768211455}"#, false),
        (r#"{"large": 10000000000000000000}"#, true),
        (r#"{"large": 9999999999999999999}"#, false),
        (r#"{"tenth": 0.3}"#, true),
        (r#"{"tenth": 1.1}"#, true),
        (r#"{"tenth": 123456789012.7}"#, true),
        (r#"{"tenth": 0.35}"#, false),
        (r#"{"tenth": 0.30000000001}"#, false),
        (r#"{"cents": 4.35}"#, true),
        (r#"{"cents": 4.355}"#, false),
        (r#"{"cents": 1e300}"#, true),
    ] {
        let outcome = call(&bounded::tool(), arguments);
        assert_eq!(outcome.is_ok(), fits, "{arguments}: {outcome:?}");
    }
}

#[test]
fn a_number_beyond_its_type_is_named_with_its_parameter() {
    for (arguments, message) in [
        (r#"{"ratio": 1e400}"#, "`ratio`: number out of range, got number 1e400"),
        (r#"{"large": 18446744073709551616}"#, "`large`: expected integer, got number 18446744073709551616"),
    ] {
        let refused = call(&bounded::tool(), arguments).expect_err(arguments);
        assert_eq!(refused, format!("Error validating JSON arguments: {message}"));
    }
    let refused = call(&deep::tool(), r#"{"inner": {"ratio": 1e400}}"#).expect_err("it is too large");
    assert_eq!(
        refused,
        "Error validating JSON arguments: `inner.ratio`: number out of range, got number 1e400"
    );
}

/// Every keyword beyond the type, as `schemars` writes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Extended {
    #[schemars(extend("not" = {"const": "root"}))]
    not: Option<String>,
    #[schemars(extend("const" = "yes"))]
    only: Option<String>,
    #[schemars(extend("enum" = ["a", "b"]))]
    listed: Option<String>,
    #[schemars(extend("enum" = [1, 2]))]
    numbers: Option<u8>,
    #[schemars(extend("uniqueItems" = true))]
    different: Option<Vec<u8>>,
    set: Option<BTreeSet<u8>>,
    #[schemars(extend("contains" = {"const": 7}, "maxContains" = 2))]
    lucky: Option<Vec<u8>>,
    #[schemars(extend("propertyNames" = {"maxLength": 2}))]
    short_names: Option<std::collections::BTreeMap<String, u8>>,
    #[schemars(extend("dependentRequired" = {"a": ["b"]}))]
    together: Option<std::collections::BTreeMap<String, u8>>,
    #[schemars(extend("if" = {"minimum": 10}, "then" = {"multipleOf": 10}, "else" = {"maximum": 5}))]
    stepped: Option<u8>,
    #[schemars(extend("allOf" = [{"maxLength": 2}]))]
    both: Option<String>,
    #[schemars(extend("dependentSchemas" = {"a": {"maxProperties": 1}}))]
    alone: Option<std::collections::BTreeMap<String, u8>>,
    #[schemars(extend("patternProperties" = {"^x": {"maximum": 3}}))]
    by_name: Option<std::collections::BTreeMap<String, u8>>,
}

/// Takes a type with every keyword.
#[tool(namespace = "promises", coerce = false)]
fn extended(it: Extended) -> &'static str {
    let _ = it;
    "taken"
}

/// Takes its fields.
#[tool(namespace = "promises", coerce = false)]
fn extended_whole(#[param(flatten)] it: Extended) -> &'static str {
    extended(it)
}

#[test]
fn every_published_keyword_is_checked() {
    let closure = ClosureTool::new("extended", "", |it: Extended| extended(it)).expect("a tool");
    let closure = closure.with_metadata(|metadata| metadata.with_coerce(false));
    // A valid and an invalid value for each keyword.
    for (valid, invalid) in [
        (r#""not": "user""#, r#""not": "root""#),
        (r#""only": "yes""#, r#""only": "no""#),
        (r#""listed": "a""#, r#""listed": "c""#),
        (r#""numbers": 2"#, r#""numbers": 3"#),
        (r#""different": [1, 2]"#, r#""different": [1, 1]"#),
        (r#""set": [1, 2]"#, r#""set": [1, 1]"#),
        (r#""lucky": [1, 7]"#, r#""lucky": [1]"#),
        (r#""lucky": [7, 7]"#, r#""lucky": [7, 7, 7]"#),
        (r#""short_names": {"ab": 1}"#, r#""short_names": {"abc": 1}"#),
        (r#""together": {"a": 1, "b": 1}"#, r#""together": {"a": 1}"#),
        (r#""stepped": 20"#, r#""stepped": 15"#),
        (r#""stepped": 5"#, r#""stepped": 7"#),
        (r#""both": "ab""#, r#""both": "abc""#),
        (r#""alone": {"a": 1}"#, r#""alone": {"a": 1, "b": 1}"#),
        (r#""by_name": {"y": 9, "x": 3}"#, r#""by_name": {"x": 4}"#),
    ] {
        for (member, fits) in [(valid, true), (invalid, false)] {
            for (tool, arguments) in [
                (&extended::tool() as &dyn Tool, format!(r#"{{"it": {{{member}}}}}"#)),
                (&extended_whole::tool(), format!("{{{member}}}")),
                (&closure, format!("{{{member}}}")),
            ] {
                let outcome = call(tool, &arguments);
                assert_eq!(outcome.is_ok(), fits, "{arguments}: {outcome:?}");
            }
        }
    }
}

#[derive(Debug, ToolParams)]
enum Unit {
    #[serde(alias = "C")]
    Celsius,
    #[serde(alias = "F")]
    Fahrenheit,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Plain {
    #[serde(alias = "C")]
    Celsius,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Distance {
    #[serde(alias = "km")]
    Kilometers(#[schemars(range(max = 100))] u32),
    #[serde(alias = "mi")]
    Miles(#[schemars(range(max = 60))] u32),
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

#[derive(Debug, Deserialize, JsonSchema)]
struct Named {
    #[serde(alias = "n")]
    #[schemars(range(max = 9))]
    number: Option<u32>,
    unit: Option<Unit>,
    plain: Option<Plain>,
    distance: Option<Distance>,
    #[serde(flatten)]
    shape: Shape,
}

/// Takes values under several names.
#[tool(namespace = "promises", coerce = false)]
fn named(named: Named) -> String {
    format!("{:?} {:?} {:?} {:?} {:?}", named.number, named.unit, named.plain, named.distance, named.shape)
}

/// Takes its fields.
#[tool(namespace = "promises", coerce = false)]
fn named_whole(#[param(flatten)] it: Named) -> String {
    named(it)
}

#[test]
fn only_published_and_declared_names_are_read() {
    for (members, fits) in [
        (r#""number": 9"#, true),
        // Only `#[derive(ToolParams)]` declares aliases.
        (r#""n": 9"#, false),
        (r#""number": 10"#, false),
        (r#""other": 10"#, false),
        (r#""unit": "Celsius""#, true),
        (r#""unit": "C""#, true),
        (r#""plain": "Celsius""#, true),
        (r#""plain": "C""#, false),
        (r#""unit": "K""#, false),
        (r#""distance": {"Kilometers": 100}"#, true),
        (r#""distance": {"Kilometers": 101}"#, false),
        (r#""distance": {"km": 50}"#, false),
        (r#""kind": "Circle", "radius": 10"#, true),
        (r#""kind": "Circle", "radius": 11"#, false),
        (r#""kind": "Circle", "r": 10"#, false),
        (r#""kind": "c", "radius": 10"#, false),
        (r#""kind": 0, "radius": 10"#, false),
        (r#""kind": "Square", "side": 21"#, false),
    ] {
        let members = if members.contains("kind") {
            members.to_owned()
        } else {
            format!(r#"{members}, "kind": "Square", "side": 1"#)
        };
        let outcome = call(&named::tool(), &format!(r#"{{"named": {{{members}}}}}"#));
        assert_eq!(outcome.is_ok(), fits, "{members}: {outcome:?}");
        let outcome = call(&named_whole::tool(), &format!("{{{members}}}"));
        assert_eq!(outcome.is_ok(), fits, "{members}: {outcome:?}");
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Patterned {
    #[schemars(regex(pattern = r"^(?!root)\w+$"))]
    name: String,
}

/// Takes a pattern with look-around.
#[tool(namespace = "promises", register = false)]
fn patterned(it: Patterned) -> &'static str {
    let _ = it;
    "taken"
}

#[test]
fn a_pattern_is_checked_or_the_tool_does_not_build() {
    let built = ToolRegistry::from_tools([patterned::tool()]);
    #[cfg(feature = "jsonschema")]
    {
        built.expect("the validator knows the pattern");
        check(&patterned::tool(), r#"{"it": {"name": "user"}}"#, Some("taken"));
        check(&patterned::tool(), r#"{"it": {"name": "rooty"}}"#, None);
    }
    #[cfg(not(feature = "jsonschema"))]
    {
        let error = built.expect_err("the pattern cannot be checked").to_string();
        assert!(error.contains("`patterned`") && error.contains("jsonschema"), "{error}");
    }
}
