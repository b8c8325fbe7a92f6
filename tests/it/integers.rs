//! Integers beyond 64 bits arrive with all digits, or are refused.

use super::calling::{call, denying, dispatched, dispatcher_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use toolkit_ai::definition::UnknownArguments;
use toolkit_ai::{ClosureTool, DynamicTool, Tool, ToolDefinition, ToolName, ToolParams, tool};

#[derive(Serialize, Deserialize, JsonSchema)]
struct In<T> {
    it: T,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Wide {
    n: i128,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Flat<T> {
    #[serde(flatten)]
    inner: T,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Open {
    name: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum External {
    Wide { n: i128 },
    Any(Value),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Tagged {
    Wide { n: i128 },
    Any { any: Value },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Text(String),
    Wide { n: i128 },
    Other(Value),
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it is JSON")
}

fn of<T: Serialize + ToolParams + Send + 'static>() -> Arc<dyn Tool> {
    Arc::new(ClosureTool::new("closure", "", |it: In<T>| json(&it.it)).expect("an object"))
}

/// Returns its argument.
#[tool(register = false)]
fn any(it: Value) -> Value {
    it
}

fn dynamic() -> Arc<dyn Tool> {
    let tool = DynamicTool::new("dynamic", "", json!({"type": "object"}), |it: Value| it.to_string());
    Arc::new(tool.expect("a schema"))
}

const INTEGER: &str = "-123456789012345678901234567890";

#[test]
fn an_integer_arrives_with_all_digits_or_is_refused_with_its_path() {
    for (tool, before, after, place) in [
        (dynamic(), r#"{"it": "#, "}", Some("it")),
        (Arc::new(any::tool()), r#"{"it": {"a": [1, "#, "]}}", Some("it.a[1]")),
        (of::<i128>(), r#"{"it": "#, "}", None),
        (of::<Wide>(), r#"{"it": {"n": "#, "}}", None),
        (of::<BTreeMap<String, i128>>(), r#"{"it": {"a": "#, "}}", None),
        (of::<External>(), r#"{"it": {"Wide": {"n": "#, "}}}", None),
        (of::<External>(), r#"{"it": {"Any": "#, "}}", Some("it.Any")),
        (of::<Vec<Value>>(), r#"{"it": [0, "#, "]}", Some("it[1]")),
        (of::<BTreeMap<String, Value>>(), r#"{"it": "{\"a\": "#, r#"}"}"#, Some("it.a")),
        (of::<Open>(), r#"{"it": {"name": "n", "a": "#, "}}", Some("it.a")),
        (of::<Tagged>(), r#"{"it": {"kind": "Any", "any": "#, "}}", Some("it.any")),
        (of::<Untagged>(), r#"{"it": {"a": "#, "}}", Some("it.a")),
    ] as [(Arc<dyn Tool>, &str, &str, Option<&str>); 12]
    {
        let outcome = call(&tool, &format!("{before}{INTEGER}{after}"));
        match place {
            None => assert!(outcome.as_ref().is_ok_and(|text| text.contains(INTEGER)), "{outcome:?}"),
            Some(place) => {
                let expected = format!("`{place}`: expected integer of at most 64 bits, got number");
                assert!(outcome.as_ref().is_err_and(|text| text.contains(&expected)), "{outcome:?}");
            }
        }
        let outcome = call(&tool, &format!("{before}{}{after}", u64::MAX));
        assert!(outcome.as_ref().is_ok_and(|text| text.contains("18446744073709551615")), "{outcome:?}");
    }
}

/// Serde buffers such members without 128-bit integers.
#[test]
fn a_128_bit_integer_in_a_flattened_or_tagged_type_is_refused() {
    for (tool, arguments) in
        [(of::<Flat<Wide>>(), r#"{"it": {"n": 5}}"#), (of::<Tagged>(), r#"{"it": {"kind": "Wide", "n": 5}}"#)]
    {
        call(&tool, arguments).expect_err(arguments);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Real {
    #[schemars(with = "f64")]
    n: u128,
}

#[tokio::test]
async fn a_rule_reads_no_rounded_number() {
    let dispatcher = dispatcher_of(Arc::new(
        ClosureTool::new("note", "", |it: Real| it.n.to_string()).expect("an object"),
    ));
    let arguments = r#"{"n": 1267650600228229401496703205377}"#;
    let alone = dispatched(&dispatcher, arguments).await;
    assert_eq!(alone.to_text(), "1267650600228229401496703205377");
    let ruled = dispatched(&dispatcher.with_middleware(denying(|_| false)), arguments).await;
    assert!(ruled.to_text().contains("`n`: expected integer of at most 64 bits"), "{}", ruled.to_text());
}

#[test]
fn an_integer_in_an_ignored_member_is_not_checked() {
    let tool = any::tool().map_metadata(|it| it.with_unknown(UnknownArguments::Ignore));
    assert_eq!(call(&tool, &format!(r#"{{"it": 1, "more": {INTEGER}}}"#)).as_deref(), Ok("1"));
}

#[test]
fn parsed_arguments_hold_the_integers_of_the_call() {
    let schema =
        json!({"type": "object", "properties": {"id": {"type": "integer"}, "ratio": {"type": "number"}}});
    let definition = ToolDefinition::new(ToolName::new("by_hand").expect("legal"), "", schema);
    let arguments = format!(r#"{{"id": 1, "more": {{"a": [{INTEGER}]}}}}"#);
    let error = definition.parse_arguments(&arguments).expect_err("it would be rounded").to_string();
    assert!(error.contains("`more.a[0]`: expected integer of at most 64 bits"), "{error}");
    let largest = definition.parse_arguments(r#"{"id": 18446744073709551615, "ratio": 0.5}"#);
    assert_eq!(largest.expect("64 bits"), json!({"id": u64::MAX, "ratio": 0.5}));
}
