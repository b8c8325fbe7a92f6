//! Calls through a registry: results and refusals.

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use toolkit_core::{ClosureTool, Dispatcher, Json, ToolRegistry};
use toolkit_llm::ApiFormat;

use crate::report::{Answer, Answers, Report};
use crate::vectors::{Context, entry, text};

/// The parameters of the original's `divide`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Divide {
    a: f64,
    b: f64,
}

/// The parameters of the original's `area`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Area {
    length: f64,
    #[serde(default = "one")]
    width: f64,
    #[serde(rename = "unit")]
    _unit: Option<String>,
}

/// The parameters of the original's `fetch`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Fetch {
    url: String,
}

/// The parameters of the original's `noargs`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn one() -> f64 {
    1.0
}

/// `toolregistry_0.11.2_seed_era.json`
pub(crate) fn seed_era(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let runtime = Builder::new_current_thread().enable_all().build().context("a runtime")?;
    let registry = registry().context("the original's tools")?;
    let call = |row: &Value| -> Result<Answer, String> {
        let arguments = entry(row, "args")?.to_string();
        let output = runtime.block_on(registry.call(text(row, "tool")?, &arguments));
        Ok(output.map(|output| written(&output.to_text())).map_err(|error| error.to_string()))
    };
    report.section(file, "run_raw", &["run_raw", "run"], |row| {
        Ok(Answers { theirs: result(entry(row, "run_raw")?)?, ours: call(row)? })
    })?;
    report.section(file, "arun", &["arun_raw", "arun"], |row| {
        Ok(Answers { theirs: result(entry(row, "arun_raw")?)?, ours: call(row)? })
    })?;
    report.section(file, "execute_tool_calls", &["out"], |row| {
        let message =
            json!({"choices": [{"message": {"role": "assistant", "tool_calls": [entry(row, "call")?]}}]});
        let id = text(entry(row, "call")?, "id")?;
        let theirs = match result(entry(row, "out")?)? {
            // The original returns failures as texts with `Error` first.
            Ok(results) => match text(&results, id)? {
                failed if failed.starts_with("Error") => Err(failed.to_owned()),
                plain => Ok(written(plain)),
            },
            Err(error) => Err(error),
        };
        Ok(Answers { theirs, ours: dispatch(&runtime, &registry, &message)? })
    })
}

fn registry() -> Result<ToolRegistry, toolkit_core::BuildError> {
    let divide = |Divide { a, b }: Divide| match b {
        0.0 => Err("division by zero"),
        _ => Ok(Json(a / b)),
    };
    let area = |Area { length, width, .. }: Area| Json(length * width);
    let fetch = |Fetch { url }: Fetch| async move { Json(json!({"url": url})) };
    let tools: [ClosureTool; 4] = [
        ClosureTool::new("divide", "Divide a by b.", divide)?,
        ClosureTool::new("area", "Calculate the area of a rectangle.", area)?,
        ClosureTool::new("fetch", "Fetch.", fetch)?,
        ClosureTool::new("noargs", "", |Nothing {}: Nothing| "x")?,
    ];
    ToolRegistry::from_tools(tools)
}

fn dispatch(runtime: &Runtime, registry: &ToolRegistry, response: &Value) -> Result<Answer, String> {
    let calls = ApiFormat::OpenAiChat.parse_calls(response).context("the call")?;
    let dispatcher = Dispatcher::new(registry.clone()).context("the original's tools")?;
    let results = runtime.block_on(dispatcher.dispatch(calls));
    let [result] = results.as_slice() else { return Err(format!("{} results", results.len())) };
    let output = result.outcome.as_ref().map_err(ToString::to_string);
    Ok(output.map(|output| written(&output.to_text())))
}

fn result(outcome: &Value) -> Result<Answer, String> {
    match (outcome.get("ok"), outcome.get("error")) {
        (Some(Value::String(text)), _) => Ok(Ok(written(text))),
        (Some(value), _) => Ok(Ok(value.clone())),
        (None, Some(error)) => Ok(Err(error.to_string())),
        (None, None) => Err("neither `ok` nor `error`".to_owned()),
    }
}

fn written(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
