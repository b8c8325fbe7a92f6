//! Integers beyond 64 bits where a schema does not say the type: kept or refused, never rounded.

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use toolkit::definition::UnknownArguments;
use toolkit::{ClosureTool, Tool, ToolDefinition, ToolName, ToolParams, ToolRegistry, tool};

#[derive(Serialize, Deserialize, JsonSchema)]
struct In<T> {
    it: T,
}

#[derive(Serialize, ToolParams)]
struct Record {
    name: Option<String>,
    data: Value,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Open {
    name: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Wide {
    id: i128,
    data: Option<Value>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Text(String),
    Number(u64),
    Other(Value),
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Variant {
    None,
    Some(Value),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Tagged {
    Data { data: Value },
}

/// Returns its argument.
#[tool]
fn any(it: Value) -> Value {
    it
}

/// Returns its argument.
#[tool]
fn map(it: HashMap<String, Value>) -> HashMap<String, Value> {
    it
}

/// Returns its argument.
#[tool]
fn record(it: Record) -> String {
    json(&it)
}

/// Returns its argument.
#[tool]
fn wide(it: Wide) -> String {
    json(&it)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn closure<T: Serialize + ToolParams + Send + 'static>(name: &str) -> Arc<dyn Tool> {
    Arc::new(ClosureTool::new(name, "Returns it.", |it: In<T>| json(&it.it)).unwrap())
}

#[cfg(feature = "jsonschema")]
fn dynamic() -> Arc<dyn Tool> {
    let schema = json!({"type": "object"});
    Arc::new(toolkit::DynamicTool::new("dynamic", "", schema, |it: Value| it.to_string()).unwrap())
}

/// A tool, the text around an integer in its arguments, and the path of the integer. The path is `None` if the type keeps
/// every digit.
type Case = (Arc<dyn Tool>, &'static str, &'static str, Option<&'static str>);

fn cases() -> Vec<Case> {
    vec![
        #[cfg(feature = "jsonschema")]
        (dynamic(), r#"{"it": "#, "}", Some("it")),
        (Arc::new(any::tool()), r#"{"it": "#, "}", Some("it")),
        (Arc::new(any::tool()), r#"{"it": {"a": [1, "#, "]}}", Some("it.a[1]")),
        (Arc::new(map::tool()), r#"{"it": {"a": "#, "}}", Some("it.a")),
        (Arc::new(map::tool()), r#"{"it": {"a": {"b": "#, "}}}", Some("it.a.b")),
        (Arc::new(map::tool()), r#"{"it": "{\"a\": "#, r#"}"}"#, Some("it.a")),
        (Arc::new(record::tool()), r#"{"it": {"data": "#, "}}", Some("it.data")),
        (Arc::new(record::tool()), r#"{"it": {"data": {"a": "#, "}}}", Some("it.data.a")),
        (Arc::new(wide::tool()), r#"{"it": {"id": "#, "}}", None),
        (Arc::new(wide::tool()), r#"{"it": {"id": 1, "data": ["#, "]}}", Some("it.data[0]")),
        (closure::<Value>("value"), r#"{"it": "#, "}", Some("it")),
        (closure::<Option<Value>>("option"), r#"{"it": {"a": "#, "}}", Some("it.a")),
        (closure::<Vec<Value>>("list"), r#"{"it": [0, "#, "]}", Some("it[1]")),
        (closure::<BTreeMap<String, Value>>("tree"), r#"{"it": {"a": "#, "}}", Some("it.a")),
        (closure::<BTreeMap<String, i128>>("wide_tree"), r#"{"it": {"a": "#, "}}", None),
        (closure::<Map<String, Value>>("object"), r#"{"it": {"a": "#, "}}", Some("it.a")),
        (closure::<Open>("open"), r#"{"it": {"name": "n", "a": "#, "}}", Some("it.a")),
        (closure::<Vec<Record>>("records"), r#"{"it": [{"data": "#, "}]}", Some("it[0].data")),
        (closure::<Either>("either"), r#"{"it": "#, "}", Some("it")),
        (closure::<Either>("either"), r#"{"it": {"a": "#, "}}", Some("it.a")),
        (closure::<Variant>("variant"), r#"{"it": {"Some": "#, "}}", Some("it.Some")),
        (closure::<Tagged>("tagged"), r#"{"it": {"kind": "Data", "data": "#, "}}", Some("it.data")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn an_integer_arrives_with_all_digits_or_is_refused(integer in "-?[1-9]([0-9]{0,30}[1-9])?") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let is_held = integer.parse::<u64>().is_ok() || integer.parse::<i64>().is_ok();
        for (tool, before, after, place) in cases() {
            let name = tool.definition().name.to_string();
            let registry = ToolRegistry::from_tools([tool]).unwrap();
            let arguments = format!("{before}{integer}{after}");
            let place = place.filter(|_| !is_held);
            match (runtime.block_on(registry.call(&name, arguments.clone())), place) {
                (Ok(output), None) => prop_assert!(output.to_text().contains(&integer), "{output:?}"),
                (Err(error), Some(place)) => {
                    let expected = format!("`{place}`: expected integer of at most 64 bits, got number");
                    prop_assert!(error.to_string().contains(&expected), "{name} {arguments}: {error}");
                }
                (outcome, _) => prop_assert!(false, "{name} {arguments}: {outcome:?}"),
            }
        }
    }
}

#[tokio::test]
async fn an_integer_in_an_ignored_member_is_not_checked() {
    let ignoring = record::tool().with_metadata(|it| it.with_unknown(UnknownArguments::Ignore));
    let registry = ToolRegistry::from_tools([ignoring]).unwrap();
    let output = registry.call("record", r#"{"it": {"data": 1, "more": 18446744073709551617}}"#).await;
    assert_eq!(output.unwrap().to_text(), r#"{"name":null,"data":1}"#);
}

#[test]
fn parsed_arguments_hold_the_integers_of_the_call() {
    let schema =
        json!({"type": "object", "properties": {"id": {"type": "integer"}, "ratio": {"type": "number"}}});
    let definition = ToolDefinition::new(ToolName::new("by_hand").unwrap(), "", schema);
    for (arguments, place) in [
        (r#"{"id": 18446744073709551617}"#, "id"),
        (r#"{"id": 1, "more": {"a": [-123456789012345678901234567890]}}"#, "more.a[0]"),
    ] {
        let error = definition.parse_arguments(arguments).unwrap_err().to_string();
        assert!(error.contains(&format!("`{place}`: expected integer of at most 64 bits")), "{error}");
    }
    let wide = r#"{"id": 18446744073709551615, "ratio": 0.5}"#;
    let expected = json!({"id": u64::MAX, "ratio": 0.5});
    assert_eq!(definition.parse_arguments(wide).unwrap(), expected);
}
