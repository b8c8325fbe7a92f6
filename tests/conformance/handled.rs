//! Calls handed over one by one, to our tools and a foreign toolset.

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use toolkit_core::error::{Violation, ViolationKind};
use toolkit_core::output::MediaData;
use toolkit_core::{
    BuildError, ClosureTool, Content, Dispatcher, ErrorKind, ToolCall, ToolContext, ToolDefinition,
    ToolError, ToolFuture, ToolName, ToolOutput, ToolProvider, ToolRegistry, ToolResult,
};

use crate::report::{Answer, Answers, Report};
use crate::vectors::{Context, entry, text};

/// The parameters of the original's `plus`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Plus {
    a: i64,
    b: i64,
}

/// The parameters of the original's `typed`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Typed {
    q: String,
    #[serde(rename = "max-results", default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    max_results: u32,
}

/// The parameters of the original's `raise`, `err` and `parts`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn ten() -> u32 {
    10
}

/// The original's tools with arguments that are no object, in their own toolset.
struct Foreign;

impl ToolProvider for Foreign {
    fn tools(&self) -> Vec<ToolDefinition> {
        let schemas = [
            ("arr", json!({"type": "array", "items": {"type": "number"}})),
            ("scalar", json!({"type": "integer"})),
        ];
        let tool = |(name, schema)| Some(ToolDefinition::new(ToolName::new(name).ok()?, "", schema));
        schemas.into_iter().filter_map(tool).collect()
    }

    fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        let wrong = |expected: &str| {
            let message = format!("expected {expected}");
            ToolError::invalid_arguments(vec![Violation::new("", ViolationKind::WrongType, message)])
        };
        let arguments: Value = match serde_json::from_str(call.arguments.as_str()) {
            Ok(arguments) => arguments,
            Err(error) => return ToolFuture::ready(Err(ToolError::invalid_json(error))),
        };
        ToolFuture::ready(match (call.name.as_str(), arguments) {
            ("arr", Value::Array(items)) => {
                let sum: f64 = items.iter().filter_map(Value::as_f64).sum();
                Ok(ToolOutput::text(sum.to_string()))
            }
            ("arr", _) => Err(wrong("an array")),
            (_, Value::Number(number)) => Ok(ToolOutput::text(format!("got {number}"))),
            _ => Err(wrong("an integer")),
        })
    }
}

fn dispatcher() -> Result<Dispatcher, BuildError> {
    let plus = |Plus { a, b }: Plus| ToolOutput::text((a + b).to_string()).with_message("m").with_brief("b");
    let typed = |Typed { q, max_results }: Typed| format!("{q}:{max_results}");
    let bad = |Nothing {}: Nothing| -> Result<String, ToolError> {
        Err(ToolError::new(ErrorKind::Failed, "bad thing").with_brief("Bad"))
    };
    let parts = |Nothing {}: Nothing| {
        let image = toolkit_core::Media::from_url("image/png", "https://x/y.png");
        ToolOutput::text("t").with_content(image)
    };
    let mut registry = ToolRegistry::from_tools([
        ClosureTool::new("plus", "", plus)?,
        ClosureTool::new("typed", "", typed)?,
        ClosureTool::new("err", "", bad)?,
        ClosureTool::new("raise", "", |Nothing {}: Nothing| Err::<(), _>("test exception"))?,
        ClosureTool::new("parts", "", parts)?,
    ])?;
    registry.register_provider(Foreign)?;
    Dispatcher::new(registry)
}

/// The sections `handle` and `empty_toolset` of `kosong.json`.
pub(crate) fn handle(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let runtime = Builder::new_current_thread().enable_all().build().context("a runtime")?;
    let dispatcher = dispatcher().context("the original's tools")?;
    report.section(file, "handle", &["result"], |row| {
        let name = text(row, "name")?;
        let arguments = row["arguments"].as_str().unwrap_or_default();
        let ours = handed_over(&runtime, &dispatcher, ToolCall::new("c1", name, arguments));
        Ok(Answers { theirs: theirs(entry(row, "result")?)?, ours })
    })?;
    let none = Dispatcher::new(ToolRegistry::new()).context("no tools")?;
    let empty = json!({"empty_toolset": [{"result": entry(file, "empty_toolset")?}]});
    report.section(&empty, "empty_toolset", &["result"], |row| {
        let ours = handed_over(&runtime, &none, ToolCall::new("c1", "x", "{}"));
        Ok(Answers { theirs: theirs(entry(row, "result")?)?, ours })
    })
}

/// The section `tool_definition` of `kosong.json`, on allowed schemas.
#[cfg(feature = "jsonschema")]
pub(crate) fn schemas(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    use toolkit_core::{DynamicTool, Tool};

    report.section(file, "tool_definition", &["result"], |row| {
        let tool = DynamicTool::new("t", "d", entry(row, "parameters")?.clone(), |_: Value| "");
        let ours = tool.map_err(|error| error.to_string()).map(|tool| {
            let ToolDefinition { name, description, parameters, .. } = tool.definition();
            json!({"name": name.as_str(), "description": description, "parameters": parameters})
        });
        Ok(Answers { theirs: crate::formats::theirs(row, "result")?, ours })
    })
}

fn handed_over(runtime: &Runtime, dispatcher: &Dispatcher, call: ToolCall) -> Answer {
    let batch = {
        let _running = runtime.enter();
        dispatcher.batch([call])
    };
    let results = runtime.block_on(batch.finish());
    Ok(result_value(results.first().ok_or("there is no result")?))
}

fn result_value(result: &ToolResult) -> Value {
    let id = result.call_id.as_str();
    match &result.outcome {
        Ok(output) => {
            let content: Vec<Value> = output.content().iter().map(part).collect();
            let output_value = match content.as_slice() {
                [only] if only["type"] == "text" => only["text"].clone(),
                _ => content.into(),
            };
            json!({
                "tool_call_id": id, "kind": "ToolOk",
                "message": output.message(), "brief": output.brief(), "output": output_value,
            })
        }
        Err(error) => {
            let kind = match error.kind() {
                ErrorKind::NotFound => "ToolNotFoundError",
                ErrorKind::InvalidJson => "ToolParseError",
                ErrorKind::InvalidArguments => "ToolValidateError",
                // Our words do not precede the tool's own message.
                ErrorKind::Failed if !error.message().starts_with("Error running tool") => "ToolError",
                ErrorKind::Failed => "ToolRuntimeError",
                _ => "another error",
            };
            let message = without_reason(kind, error.message());
            json!({"tool_call_id": id, "kind": kind, "message": message, "brief": error.brief(), "output": ""})
        }
    }
}

fn part(content: &Content) -> Value {
    match content {
        Content::Image(media) => match &media.data {
            MediaData::Url(url) => json!({"type": "image_url", "image_url": {"url": url, "id": null}}),
            _ => json!({"type": "image"}),
        },
        other => json!({"type": "text", "text": other.to_text()}),
    }
}

fn theirs(result: &Value) -> Result<Answer, String> {
    let kind = text(result, "class")?;
    Ok(Ok(json!({
        "tool_call_id": result["tool_call_id"],
        "kind": kind,
        "message": without_reason(kind, text(result, "message")?),
        "brief": result["brief"],
        "output": result["output"],
    })))
}

/// The message without reasons of parser and validator or our advice.
fn without_reason(kind: &str, message: &str) -> String {
    let end = match kind {
        "ToolParseError" | "ToolValidateError" => message.find(": "),
        "ToolNotFoundError" => message.find(';'),
        _ => None,
    };
    message.get(..end.unwrap_or(message.len())).unwrap_or_default().to_owned()
}
