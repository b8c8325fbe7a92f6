//! Numbers as they are written, broken strings, names of maps: the same rule at every depth and in every kind of tool.

use super::argument_promises::{call, check, reported_coercions};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::sleep;
use toolkit::middleware::{PermissionRule, Permissions};
use toolkit::prelude::*;
use toolkit::{AdaptedTool, ArgumentTransform, DynamicTool, ToolName, ToolTag};

const GREATEST: u128 = 100_000_000_000_000_000_000_000;

/// Takes bounded integers of every width.
#[tool(namespace = "spellings")]
fn bounded(
    #[param(range = 0..=3000000000)] unsigned: Option<u64>,
    #[param(range = -3000000000..=0xFFFFFFFFF)] signed: Option<i64>,
    #[param(multiple_of = 3000000000)] multiple: Option<u64>,
    #[param(one_of = [1, 3000000000])] listed: Option<u64>,
    #[param(range = ..=20000000000000000000)] wide: Option<u128>,
    #[param(range = ..=GREATEST)] constant: Option<u128>,
    #[param(default = u128::MAX)] default: u128,
) -> String {
    format!("{unsigned:?} {signed:?} {multiple:?} {listed:?} {wide:?} {constant:?} {}", default == u128::MAX)
}

#[test]
fn bounds_beyond_32_bits_need_no_suffix() {
    for (name, inside, outside) in [
        ("unsigned", "3000000000", "3000000001"),
        ("signed", "-3000000000", "-3000000001"),
        ("signed", "68719476735", "68719476736"),
        ("multiple", "9000000000", "9000000001"),
        ("listed", "3000000000", "3000000001"),
        ("wide", "20000000000000000000", "20000000000000000001"),
        ("constant", "100000000000000000000000", "100000000000000000000001"),
    ] {
        let outcome = call(&bounded::tool(), &format!(r#"{{"{name}": {inside}}}"#));
        assert!(
            outcome.as_ref().is_ok_and(|text| text.contains(inside) && text.ends_with("true")),
            "{outcome:?}"
        );
        let outcome = call(&bounded::tool(), &format!(r#"{{"{name}": {outside}}}"#));
        assert!(outcome.as_ref().is_err_and(|text| text.contains(&format!("`{name}`: "))), "{outcome:?}");
    }
}

#[test]
fn a_default_that_json_cannot_hold_is_not_published() {
    let schema = bounded::tool().definition().parameters.clone();
    assert_eq!(schema["properties"]["default"].get("default"), None);
    assert_eq!(schema.get("required"), None);
}

/// Takes a number of a bound that no double equals.
#[tool(namespace = "spellings", register = false)]
fn inexact(#[param(range = ..=u128::MAX)] n: u128) -> String {
    n.to_string()
}

#[test]
fn a_bound_that_json_cannot_hold_is_a_build_error() {
    let error = ToolRegistry::from_tools(tools![inexact]).unwrap_err().to_string();
    let message =
        "340282366920938463463374607431768211455 has more digits than a bound can hold; use at most 64 bits";
    assert!(error.contains("`#/properties/n/maximum`") && error.contains(message), "{error}");
}

/// Takes a ratio and a text.
#[tool(namespace = "spellings")]
fn ratio(ratio: Option<f64>, #[param(alias = "t")] text: Option<String>) -> String {
    format!("{ratio:?} {text:?}")
}

fn dynamic(coerce: bool) -> DynamicTool {
    let schema = json!({"type": "object", "properties": {
        "ratio": {"type": "number"}, "n": {"type": "integer", "maximum": 9}, "list": {"items": {"type": "integer"}},
    }});
    let tool = DynamicTool::new("dynamic", "Takes numbers.", schema, |args: Value| args.to_string());
    tool.expect("a valid schema").with_coerce(coerce)
}

#[tokio::test]
async fn a_number_out_of_range_has_one_message_everywhere() {
    let expected = "Error validating JSON arguments: `ratio`: number out of range, got number 1e400";
    let adapted = AdaptedTool::new(ratio::tool()).with_name(ToolName::new("adapted").expect("a legal name"));
    let tools: [(&str, Arc<dyn Tool>); 4] = [
        ("spellings-ratio", Arc::new(ratio::tool())),
        ("adapted", Arc::new(adapted)),
        ("dynamic", Arc::new(dynamic(false))),
        ("dynamic", Arc::new(dynamic(true))),
    ];
    for (name, tool) in tools {
        assert_eq!(call(&tool, r#"{"ratio": 1e400}"#).unwrap_err(), expected, "{name}");
        let registry = ToolRegistry::from_tools([tool]).expect("one tool");
        let permissions = Permissions::new().rule(PermissionRule::allow());
        let dispatcher = Dispatcher::new(registry).expect("one tool").with_middleware(permissions);
        let results = dispatcher.dispatch([ToolCall::new("1", name, r#"{"ratio": 1e400}"#)]).await;
        assert_eq!(results[0].to_text(), expected, "{name}");
    }
}

#[test]
fn a_dynamic_tool_compares_integers_as_they_are_written() {
    for tool in [dynamic(false), dynamic(true)] {
        for n in ["4.9999999999999999999", "9.0000000000000000001", "5.00000000000000000000001"] {
            let message = call(&tool, &format!(r#"{{"n": {n}}}"#)).expect_err("it is no integer");
            let expected = format!(
                "Error validating JSON arguments: `n`: expected integer of at most 9, got number {n}"
            );
            assert_eq!(message, expected);
            let message = call(&tool, &format!(r#"{{"list": [1, {n}]}}"#)).expect_err("it is no integer");
            assert_eq!(
                message,
                format!("Error validating JSON arguments: `list[1]`: expected integer, got number {n}")
            );
        }
        check(&tool, r#"{"n": 5.0}"#, Some(r#"{"n":5.0}"#));
        check(&tool, r#"{"ratio": 0.1000000000000000055}"#, Some(r#"{"ratio":0.1}"#));
    }
}

#[test]
fn a_control_character_in_a_string_is_itself_at_every_depth() {
    for before in ["", "\\"] {
        for control in ["\n", "\t", "\r", "\u{1}", "\u{1f}"] {
            let expected = format!("None Some({:?})", format!("a{control}b"));
            let text = format!("{{\"text\": \"a{before}{control}b\"}}");
            check(&ratio::tool(), &text, Some(&expected));
            let inner = Value::from(format!("{{\"s\": \"x{before}{control}y\"}}")).to_string();
            let expected = json!({"d": {"s": format!("x{control}y")}}).to_string();
            check(&maps::tool(), &format!("{{\"d\": {inner}}}"), Some(&expected));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, ToolParams)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    FastMode,
    SlowMode,
}

#[derive(Debug, serde::Serialize, ToolParams)]
struct Inner {
    s: String,
}

/// Takes maps.
#[tool(namespace = "spellings")]
fn maps(d: Option<Inner>, modes: Option<BTreeMap<Mode, i64>>, numbers: Option<BTreeMap<i32, i64>>) -> String {
    let all = [json!({"d": d}), json!({"modes": modes}), json!({"numbers": numbers})];
    all.into_iter()
        .find(|part| part.as_object().is_some_and(|part| !part.values().all(Value::is_null)))
        .map_or_else(String::new, |part| part.to_string())
}

#[test]
fn names_of_maps_are_matched_like_other_words() {
    check(
        &maps::tool(),
        r#"{"modes": {"FAST MODE": 1, "slow_mode": "2"}}"#,
        Some(r#"{"modes":{"fast-mode":1,"slow-mode":2}}"#),
    );
    check(&maps::tool(), r#"{"modes": {"FAST MODE": 1, "fast-mode": 2}}"#, None);
    check(&maps::tool(), r#"{"modes": {"other": 1}}"#, None);
    for text in [r#"{"numbers": {"x": 1}}"#, r#"{"numbers": {"1x": 1}}"#] {
        let message = call(&maps::tool(), text).unwrap_err();
        assert!(message.ends_with("this name is not allowed; it must match `^-?\\d+$`"), "{text}: {message}");
    }
}

/// Takes counts of answers.
#[tool(register = false)]
fn answers(counts: BTreeMap<bool, u8>) -> String {
    format!("{counts:?}")
}

#[test]
fn names_of_maps_of_booleans_are_true_and_false() {
    assert_eq!(call(&answers::tool(), r#"{"counts": {"true": 1}}"#).as_deref(), Ok("{true: 1}"));
    for text in [r#"{"counts": {"True": 1}}"#, r#"{"counts": {"false": 1, "maybe": 2}}"#] {
        let message = call(&answers::tool(), text).unwrap_err();
        assert!(message.contains("`counts`") && message.contains("expected a boolean"), "{text}: {message}");
    }
}

#[test]
fn malformed_json_comes_with_advice() {
    for (text, advice) in [
        ("{'ratio': 1}", "use double quotes"),
        ("{\"text\":\n 'a'}", "use double quotes"),
        ("{\"ratio\": 1,}", "remove the comma"),
        ("{\"ratio\": [1, 2,\n]}", "remove the comma"),
        ("{\"ratio\": 1}\n{\"ratio\": 2}", "make a call for each object"),
        ("{\"ratio\": 1}}", "remove the text after the object"),
        (" {\"ratio\": 1} It is one.", "remove the text after the object"),
        ("{\"ratio\": 1", "write the object up to its end"),
        ("{\"text\": \"a", "write the object up to its end"),
        ("{\"ratio\": 1, // half\n}", "remove the comment"),
        ("Here: {\"ratio\": 1}", "begin with `{`"),
        ("ratio=1", "begin with `{`"),
        ("{ratio: 1}", "use double quotes"),
        ("{\"text\": Grüße}", "use double quotes"),
        ("{\"text\": \"He said \"hello\".\"}", "write a quote within a string as `\\\"`"),
        ("{\"ratio\": None}", "write `null`"),
        ("{\"ratio\": [True]}", "write `true`"),
    ] {
        let message = call(&ratio::tool(), text).expect_err("it is no JSON");
        assert!(message.contains(&format!("; {advice}; the arguments")), "{message}");
    }
}

#[tokio::test]
async fn the_coercions_behind_an_adapted_tool_are_reported() {
    let adapted = || {
        let tool = AdaptedTool::new(ratio::tool()).with_name(ToolName::new("adapted").expect("a legal name"));
        tool.with_arguments([ArgumentTransform::of("text").with_name("words")]).expect("a legal transform")
    };
    for (arguments, coerced) in [
        ("```json\n{\"ratio\": 1}\n```", json!(["arguments"])),
        (r#""{\"ratio\": 1, \"words\": \"a\"}""#, json!(["arguments"])),
        (r#"{"ratio": 1}"#, Value::Null),
    ] {
        assert_eq!(reported_coercions(Arc::new(adapted()), arguments).await, coerced, "{arguments}");
    }
    let strict = AdaptedTool::new(ratio::tool().with_metadata(|metadata| metadata.with_coerce(false)));
    let strict =
        strict.with_arguments([ArgumentTransform::of("text").with_name("words")]).expect("a legal transform");
    let registry = ToolRegistry::from_tools([strict]).expect("one tool");
    assert!(registry.call("spellings-ratio", "```json\n{\"ratio\": 1}\n```").await.is_err());
    assert!(registry.call("spellings-ratio", r#"{"ratio": 1}"#).await.is_ok());
}

static RUNNING: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug, Clone, ToolParams)]
struct Part {
    #[param(alias = "first")]
    a: i64,
    #[param(default = 2)]
    b: i64,
}

/// Works on a part.
#[tool(namespace = "spellings", lane = "part")]
async fn work(part: Part) -> i64 {
    MOST.fetch_max(RUNNING.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    sleep(Duration::from_millis(10)).await;
    RUNNING.fetch_sub(1, Ordering::SeqCst);
    part.a + part.b
}

#[tokio::test(start_paused = true)]
async fn a_lane_is_the_same_however_its_value_is_written() {
    let spellings =
        [r#"{"a":1}"#, r#"{"a":1,"b":2}"#, r#"{"b":2.0,"a":"1"}"#, r#"{"first":1}"#, r#""{\"a\":1}""#];
    let name = |name| ToolName::new(name).expect("a legal name");
    let renamed = AdaptedTool::new(work::tool()).with_name(name("renamed"));
    let renamed = renamed.with_arguments([ArgumentTransform::of("part").with_name("piece")]).expect("legal");
    let hidden = AdaptedTool::new(work::tool()).with_name(name("hidden"));
    let fixed = ArgumentTransform::of("part").fixed(json!({"a": 1, "b": 2}));
    let hidden = hidden.with_arguments([fixed]).expect("legal");
    let tools: [Arc<dyn Tool>; 3] = [Arc::new(work::tool()), Arc::new(renamed), Arc::new(hidden)];
    let dispatcher =
        Dispatcher::new(ToolRegistry::from_tools(tools).expect("three tools")).expect("three tools");
    let mut calls = vec![ToolCall::new("0", "hidden", "{}")];
    for (index, spelling) in spellings.iter().enumerate() {
        calls.push(ToolCall::new(format!("a{index}"), "spellings-work", format!("{{\"part\": {spelling}}}")));
        calls.push(ToolCall::new(format!("b{index}"), "renamed", format!("{{\"piece\": {spelling}}}")));
    }
    let results = dispatcher.dispatch(calls).await;
    assert!(results.iter().all(|result| result.to_text() == "3"), "{results:?}");
    assert_eq!(MOST.load(Ordering::SeqCst), 1);
}

const TAG: &str = "network";

/// Has tags of two types.
#[tool(namespace = "spellings", tags(TAG, ToolTag::ReadOnly, "own"))]
fn tagged() {}

#[test]
fn tags_are_constants_of_either_type() {
    let tags = tagged::tool().definition().metadata.tags.clone();
    assert_eq!(tags.into_iter().collect::<Vec<_>>().len(), 3);
}
