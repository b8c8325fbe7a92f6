//! Closure tools with typed arguments.

use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use toolkit_ai::definition::UnknownArguments;
use toolkit_ai::error::{BuildProblem, ToolFault};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::json;
use toolkit_ai::{ClosureTool, ErrorKind, Json};

#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    /// What is looked for.
    query: String,
    #[serde(default, alias = "limit")]
    #[schemars(range(min = 1, max = 50))]
    max_results: Option<u32>,
    #[serde(default)]
    tags: Vec<String>,
    filter: Option<Filter>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Filter {
    #[serde(alias = "at_least")]
    min: i64,
}

fn search() -> ClosureTool {
    ClosureTool::new("search", "Searches.", |args: Search| async move {
        let Search { query, max_results, tags, filter } = args;
        format!("{query} {max_results:?} {tags:?} {:?}", filter.map(|filter| filter.min))
    })
    .unwrap()
}

async fn call(tool: &ClosureTool, arguments: &str) -> Result<String, String> {
    let context = ToolContext::new(tool.definition().name.clone());
    let outcome = tool.call(arguments, &context).await;
    outcome.map(|output| output.to_text().into_owned()).map_err(|error| error.message().to_owned())
}

#[track_caller]
fn refused(outcome: Result<String, String>, lines: &[&str]) {
    let message = outcome.unwrap_err();
    for line in lines {
        assert!(message.contains(line), "{line}\nis not in\n{message}");
    }
}

#[test]
fn the_schema_of_the_type_forbids_ignored_names() {
    assert_eq!(
        search().definition().parameters,
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What is looked for."},
                "max_results": {"type": "integer", "minimum": 1, "maximum": 50},
                "tags": {"type": "array", "items": {"type": "string"}, "default": []},
                "filter": {
                    "type": "object", "properties": {"min": {"type": "integer"}}, "required": ["min"]
                },
            },
            "required": ["query"],
            "additionalProperties": false,
        })
    );
    let open = search().map_metadata(|metadata| metadata.with_unknown(UnknownArguments::Ignore));
    assert!(open.definition().parameters.get("additionalProperties").is_none());
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(Deserialize, JsonSchema)]
struct Open {
    first: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn maps_and_enums_serve_as_arguments() {
    let area = ClosureTool::new("area", "", |shape: Shape| match shape {
        Shape::Circle { radius } => 3.0 * radius * radius,
        Shape::Square { side } => side * side,
    })
    .unwrap();
    assert_eq!(call(&area, r#"{"kind": "square", "side": 2}"#).await.as_deref(), Ok("4.0"));
    refused(
        call(&area, r#"{"kind": "square", "side": "x"}"#).await,
        &["`side`: expected number, got string"],
    );
    refused(
        call(&area, r#"{"kind": "line"}"#).await,
        &["`kind`: expected one of \"circle\", \"square\", got"],
    );

    let open = ClosureTool::new("open", "", |open: Open| (open.first, open.rest)).unwrap();
    assert_eq!(call(&open, r#"{"first": "1", "x": 2}"#).await.as_deref(), Ok(r#"[1,{"x":2}]"#));

    let map = ClosureTool::new("map", "", |map: BTreeMap<String, i8>| map.len()).unwrap();
    assert_eq!(call(&map, r#"{"a": 1, "b": 2}"#).await.as_deref(), Ok("2"));
    refused(
        call(&map, r#"{"a": 1, "b": 200}"#).await,
        &["`b`: expected integer from -128 to 127, got number 200"],
    );
}

#[tokio::test]
async fn every_kind_of_return_value() -> Result<(), Box<dyn Error>> {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let tools = [
        ClosureTool::new("json", "", |_: Nothing| async { Json(json!({"a": 1})) })?,
        ClosureTool::new("fails", "", |_: Nothing| async { Err::<(), _>("it is closed") })?,
        ClosureTool::new("counts", "", move |_: Nothing| counted.fetch_add(1, Ordering::SeqCst))?,
        ClosureTool::new("denies", "", |_: Nothing| Err::<String, _>(ToolError::denied("denies", "no")))?,
        ClosureTool::new("panics", "", |_: Nothing| async move { panic!("oh") as i32 })?,
        ClosureTool::new("waits", "", |_: Nothing| tokio::time::sleep(Duration::from_secs(60)))?
            .with_timeout(Duration::from_millis(5)),
        ClosureTool::new_with_context("asks", "", |_: Nothing, context: ToolContext| async move {
            context.call_id().map(ToString::to_string)
        })?,
    ];
    let names = tools.clone().map(|tool| tool.definition().name.to_string());
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools(tools)?)?;
    let results = dispatcher.dispatch(names.iter().map(|name| ToolCall::new(&**name, name, "{}"))).await;
    let texts: Vec<String> = results
        .iter()
        .map(|result| match &result.outcome {
            Ok(output) => output.to_text().into_owned(),
            Err(error) => error.message().to_owned(),
        })
        .collect();
    assert_eq!(
        texts,
        [
            r#"{"a":1}"#,
            "Error running tool: it is closed",
            "0",
            "Tool `denies` was denied: no",
            "Tool `panics` panicked",
            "Tool `waits` timed out after 0.005s",
            "asks",
        ]
    );
    assert_eq!(results[3].outcome.as_ref().unwrap_err().kind(), ErrorKind::Denied);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    Ok(())
}

#[test]
fn an_impossible_tool_is_refused_with_its_location() {
    let error = ClosureTool::new("a b", "", |_: Nothing| ()).unwrap_err();
    assert!(matches!(error.problems(), [BuildProblem::IllegalName { .. }]));
    assert!(error.to_string().contains("closures.rs:"), "{error}");
    let error = ClosureTool::new("number", "", |number: i32| number).unwrap_err();
    assert!(matches!(error.problems(), [BuildProblem::Tool { fault: ToolFault::InvalidSchema { .. }, .. }]));
    assert!(error.to_string().contains("must be written as an object; put them into a struct"), "{error}");
    let tools = [
        ClosureTool::new("twice", "", |_: Nothing| ()).unwrap(),
        ClosureTool::new("twice", "", |_: Nothing| ()).unwrap(),
    ];
    let error = ToolRegistry::from_tools(tools).unwrap_err();
    assert_eq!(error.to_string().matches("closures.rs:").count(), 2, "{error}");
}
