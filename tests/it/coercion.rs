//! Near misses are coerced alike at every depth and in every kind of tool, and no number is rounded.

use super::calling::{check, dispatched, dispatcher_of, reported_coercions};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use toolkit_ai::prelude::*;
use toolkit_ai::{AdaptedTool, ArgumentTransform, ClosureTool, DynamicTool, ToolName};

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToolParams)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    FastMode,
    /// In no hurry.
    Slow,
}

/// Members of every kind, also inside of one another.
#[derive(Debug, Serialize, ToolParams)]
struct Members {
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wide: Option<i128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    real: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flag: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<BTreeSet<u8>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modes: Option<BTreeMap<Mode, i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inner: Option<Box<Self>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<Self>>,
}

fn shown(members: &Members) -> String {
    serde_json::to_string(members).expect("it is JSON")
}

/// Returns its arguments.
#[tool(register = false)]
fn function(#[param(flatten)] members: Members) -> String {
    shown(&members)
}

fn closure() -> ClosureTool {
    ClosureTool::new("closure", "", |members: Members| shown(&members)).expect("a tool")
}

fn dynamic() -> DynamicTool {
    let mut schema = toolkit_ai::schema::schema_of::<Members>();
    schema["additionalProperties"] = false.into();
    let decoded = |arguments: Value| shown(&serde_json::from_value(arguments).expect("members"));
    DynamicTool::new("dynamic", "", schema, decoded).expect("a schema").with_coerce(true)
}

/// What the model writes, and what the tool gets; `None` if the call is refused.
const MEMBERS: [(&str, &str, Option<&str>); 46] = [
    ("whole", "5.0", Some("5")),
    ("whole", "5e0", Some("5")),
    ("whole", r#""5""#, Some("5")),
    ("whole", r#"" 5.0 ""#, Some("5")),
    ("whole", r#""-0.0""#, Some("0")),
    ("whole", "1e17", Some("100000000000000000")),
    ("whole", "9007199254740993.0", Some("9007199254740993")),
    ("whole", "5.5", None),
    ("whole", "4.9999999999999999999", None),
    ("whole", r#""5.0000000000000000001""#, None),
    ("whole", "1e400", None),
    ("whole", "1.5e-2147483648", None),
    ("whole", "1e2147483648", None),
    ("whole", "1.5e-99999999999999999999", None),
    ("whole", r#""seven""#, None),
    ("whole", r#""""#, None),
    ("whole", "true", None),
    ("wide", "1e18", Some("1000000000000000000")),
    ("wide", r#""2.9e3""#, Some("2900")),
    ("wide", "1.5", None),
    ("real", r#""1.5""#, Some("1.5")),
    ("real", r#""1e400""#, None),
    ("flag", r#""True""#, Some("true")),
    ("flag", r#""yes""#, Some("true")),
    ("flag", r#""NO""#, Some("false")),
    ("flag", r#""maybe""#, None),
    ("text", "5", Some(r#""5""#)),
    ("text", "1.50e300", Some(r#""1.50e300""#)),
    ("text", "123456789012345678901234567890", Some(r#""123456789012345678901234567890""#)),
    ("text", "true", None),
    ("text", r#"["a"]"#, None),
    ("mode", r#""Fast mode""#, Some(r#""fast-mode""#)),
    ("mode", r#""FAST_MODE""#, Some(r#""fast-mode""#)),
    ("mode", r#""fastest""#, None),
    ("list", r#""[1]""#, Some("[1]")),
    ("list", r#"[1.0, "2", 1e2]"#, Some("[1,2,100]")),
    ("list", "[1.5]", None),
    ("set", "[1, 2, 1]", Some("[1,2]")),
    ("modes", r#"{"FAST MODE": 1, "Slow": "2"}"#, Some(r#"{"fast-mode":1,"slow":2}"#)),
    ("modes", r#"{"FAST MODE": 1, "fast-mode": 2}"#, None),
    ("modes", r#"{"other": 1}"#, None),
    ("inner", r#""{\"whole\": 1}""#, Some(r#"{"whole":1}"#)),
    ("inner", r#""```json\n{\"whole\": 1}\n```""#, Some(r#"{"whole":1}"#)),
    ("text", "\"a\nb\"", Some(r#""a\nb""#)),
    ("text", "\"a\\\nb\"", Some(r#""a\nb""#)),
    ("text", "\"a\u{1f}b\"", Some(r#""a\u001fb""#)),
];

#[test]
fn near_misses_are_coerced_at_every_depth() {
    let tools: [&dyn Tool; 3] = [&function::tool(), &closure(), &dynamic()];
    let strict = closure().map_metadata(|metadata| metadata.with_coerce(false));
    for (name, written, read) in MEMBERS {
        for (before, after) in [("", ""), (r#"{"inner":"#, "}"), (r#"{"items":[{"flag":true},"#, "]}")] {
            let arguments = format!(r#"{before}{{"{name}":{written}}}{after}"#);
            let expected = read.map(|read| format!(r#"{before}{{"{name}":{read}}}{after}"#));
            // A dynamic tool gets `5.0` unchanged.
            let is_number = ["whole", "wide", "real", "list"].contains(&name);
            for tool in tools.into_iter().take(if is_number { 2 } else { 3 }) {
                check(tool, &arguments, expected.as_deref());
            }
            check(&strict, &arguments, None);
        }
    }
}

/// Takes optional values.
#[tool(register = false)]
fn optional(#[param(default = Some(5))] by: Option<i64>, #[param(default = 3)] times: u8) -> String {
    format!("{by:?} {times}")
}

#[test]
fn null_is_an_absent_argument_except_for_an_option_with_a_default() {
    for (arguments, read) in [
        ("{}", "Some(5) 3"),
        (r#"{"by": null, "times": null}"#, "None 3"),
        (r#"{"by": 1, "times": 2}"#, "Some(1) 2"),
    ] {
        check(&optional::tool(), arguments, Some(read));
    }
}

const PLAIN: &str = r#"{"text":"Oslo","list":[1,2]}"#;

fn wrapped(plain: &str) -> Vec<String> {
    let list = format!("[{plain}]");
    let in_string = |text: &str| Value::from(text).to_string();
    let in_fence = |text: &str| format!("```json\n{text}\n```");
    vec![
        in_string(plain),
        in_fence(plain),
        format!("``` {plain}```\n"),
        format!(" [\n{plain} ]\n"),
        in_string(&list),
        in_fence(&in_string(&list)),
        in_string(&in_fence(&list)),
    ]
}

fn tools(coerce: bool) -> Vec<Arc<dyn Tool>> {
    let adapted = AdaptedTool::new(function::tool().map_metadata(|metadata| metadata.with_coerce(coerce)))
        .with_name(ToolName::new("adapted").expect("legal"))
        .with_arguments([ArgumentTransform::new("real").hidden()])
        .expect("possible");
    vec![
        Arc::new(function::tool().map_metadata(|metadata| metadata.with_coerce(coerce))),
        Arc::new(closure().map_metadata(|metadata| metadata.with_coerce(coerce))),
        Arc::new(dynamic().with_coerce(coerce)),
        Arc::new(adapted),
    ]
}

#[tokio::test]
async fn wrapped_arguments_are_the_object_inside() {
    for tool in tools(true) {
        for text in wrapped(PLAIN) {
            check(&tool, &text, Some(PLAIN));
            assert_eq!(reported_coercions(tool.clone(), &text).await, json!(["arguments"]), "{text}");
        }
        for text in
            ["[]", "[1]", r#"["{}"]"#, "```{```", &format!("[[{PLAIN}]]"), &format!("[{PLAIN}, {PLAIN}]")]
        {
            check(&tool, text, None);
        }
    }
    for tool in tools(false) {
        for text in wrapped(PLAIN) {
            let result = dispatched(&dispatcher_of(tool.clone()), &text).await;
            assert!(result.is_error() && result.to_text().contains("JSON object"), "{result:?}");
        }
    }
}

/// A list or string that the schema allows is the argument itself.
#[test]
fn a_dynamic_tool_that_accepts_lists_gets_the_list() {
    for (schema, text) in [
        (json!({"type": ["object", "array"]}), r#"[{"a":1}]"#),
        (json!({"properties": {"a": {"type": "integer"}}}), r#""{\"a\":1}""#),
    ] {
        let tool = DynamicTool::new("echo", "", schema, |arguments: Value| arguments.to_string());
        check(&tool.expect("a schema").with_coerce(true), text, Some(text));
    }
}

#[tokio::test]
async fn events_name_each_coerced_parameter_of_every_kind_of_tool() {
    for (arguments, coerced) in [
        (r#"{"flag": "yes", "text": "a", "mode": "Slow"}"#, json!(["flag", "mode"])),
        (r#"{"inner": {"whole": "5"}, "modes": {"Fast Mode": 5}}"#, json!(["inner", "modes"])),
        ("```json\n{\"flag\": true}\n```", json!(["arguments"])),
        ("{\"text\": \"a\nb\", \"items\": [{\"flag\": \"no\"}]}", json!(["arguments", "items"])),
        (r#"{"flag": true, "text": "yes", "modes": {"fast-mode": 5}}"#, Value::Null),
    ] {
        for tool in tools(true) {
            assert_eq!(reported_coercions(tool, arguments).await, coerced, "{arguments}");
        }
    }
}

#[derive(Debug, ToolParams)]
enum Step {
    #[serde(alias = "big step")]
    Small,
    BigStep,
}

/// Takes another name that is like an own one.
#[tool(register = false)]
fn step(step: Step, count: Option<i64>) -> String {
    format!("{step:?} {count:?}")
}

#[test]
fn coercion_never_changes_what_the_type_accepts() {
    for (arguments, expected) in [
        (r#"{"step": "big step"}"#, "Small None"),
        (r#"{"step": "big step", "count": "5"}"#, "Small Some(5)"),
        (r#"{"step": "BIG-STEP", "count": "5"}"#, "BigStep Some(5)"),
    ] {
        check(&step::tool(), arguments, Some(expected));
    }
}
