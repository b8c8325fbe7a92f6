//! Calls that are run, and the permissions they need.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use toolkit_core::middleware::{Approval, Permission, PermissionRule, Permissions};
use toolkit_core::{ClosureTool, Content, Dispatcher, Json, Media, Tool, ToolOutput, ToolRegistry, ToolTag};
use toolkit_llm::ApiFormat;

use crate::formats::theirs;
use crate::report::{Answer, Answers, Report};
use crate::vectors::{Context, entry, rows, text};

/// The parameters of the original's `add`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

/// The parameters of the original's `boom`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Boom {
    #[serde(default = "kaput")]
    msg: String,
}

/// The parameters of the original's `echo`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    value: Value,
}

/// No parameters.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn kaput() -> String {
    "kaput".to_owned()
}

/// `toolcalls_toolregistry.json`, as far as calls run.
pub(crate) fn execute(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let runtime = Builder::new_current_thread().enable_all().build().context("a runtime")?;
    let registry = registry().context("the original's tools")?;
    let run = Dispatcher::new(registry.clone()).context("the original's tools")?;
    report.section(&for_each_way(file)?, "execute", &["answer"], |row| {
        let theirs = theirs(row, "answer")?.and_then(|answer| returned(&answer, "value"));
        Ok(Answers { theirs, ours: dispatch(&runtime, &run, entry(row, "call")?)? })
    })?;
    report.section(file, "tool_run", &["run"], |row| {
        let arguments = entry(row, "args")?.to_string();
        let call = registry.call(text(row, "tool")?, &arguments);
        let ours = runtime.block_on(call).map(|output| written(&output.to_text()));
        Ok(Answers { theirs: theirs(row, "run")?, ours: ours.map_err(|error| error.to_string()) })
    })?;
    report.section(file, "permissions", &["result", "events"], |row| {
        let theirs = returned(entry(row, "result")?, "text");
        Ok(Answers { theirs, ours: permissions(&runtime, row)? })
    })
}

/// The original has three ways to run a call, which may disagree.
fn for_each_way(file: &Value) -> Result<Value, String> {
    let mut each = Vec::new();
    for row in rows(file, "execute")? {
        for way in ["thread", "process", "invoke"] {
            each.push(json!({"call": entry(row, "call")?, "way": way, "answer": entry(row, way)?}));
        }
    }
    Ok(json!({"execute": each}))
}

fn returned(result: &Value, name: &str) -> Answer {
    let value = match &result[name] {
        Value::String(text) => written(text),
        value => value.clone(),
    };
    if result["class"] == "ErrorResult" { Err(value.to_string()) } else { Ok(value) }
}

fn registry() -> Result<ToolRegistry, toolkit_core::BuildError> {
    let add = |Add { a, b }: Add| a + b;
    let aadd = |Add { a, b }: Add| async move { a + b };
    let picture = |Nothing {}: Nothing| {
        ToolOutput::new(vec![
            Content::Text("pic".to_owned()),
            Content::Image(Box::new(Media::new("image/png", "hello"))),
        ])
    };
    let map = |Nothing {}: Nothing| Json(json!({"b": 1, "a": [1, null, true], "名": "é"}));
    let tools: [ClosureTool; 8] = [
        ClosureTool::new("add", "", add)?,
        ClosureTool::new("disabled_tool", "", add)?,
        ClosureTool::new("aadd", "", aadd)?,
        ClosureTool::new("boom", "", |Boom { msg }: Boom| Err::<(), _>(msg))?,
        ClosureTool::new("echo", "", |Echo { value }: Echo| value)?,
        ClosureTool::new("ret_dict", "", map)?,
        ClosureTool::new("ret_none", "", |Nothing {}: Nothing| ())?,
        ClosureTool::new("ret_img", "", picture)?,
    ];
    let mut registry = ToolRegistry::from_tools(tools)?;
    registry.disable("disabled_tool", "maintenance")?;
    Ok(registry)
}

fn dispatch(runtime: &Runtime, dispatcher: &Dispatcher, call: &Value) -> Result<Answer, String> {
    let response = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]});
    let calls = ApiFormat::OpenAiChat.parse_calls(&response).context("the call")?;
    let results = runtime.block_on(dispatcher.dispatch(calls));
    let [result] = results.as_slice() else { return Err(format!("{} results", results.len())) };
    Ok(match &result.outcome {
        Err(error) => Err(error.to_string()),
        Ok(output) if output.content().len() == 1 => Ok(written(&output.to_text())),
        // The original keeps a provider's blocks.
        Ok(_) => {
            let messages = ApiFormat::Anthropic.encode_results(&results);
            Ok(messages[0]["content"][0]["content"].clone())
        }
    })
}

/// A checked program refuses rules that overrule stricter ones.
fn permissions(runtime: &Runtime, row: &Value) -> Result<Answer, String> {
    let rules = entry(row, "rules")?.as_array().ok_or("`rules` is not a list")?;
    let mut permissions = Permissions::new();
    for rule in rules {
        permissions = permissions.rule(match rule.as_str() {
            Some("allow_readonly") => PermissionRule::allow().for_tag(ToolTag::ReadOnly),
            Some("ask_destructive") => PermissionRule::ask("it destroys").for_tag(ToolTag::Destructive),
            Some("deny_privileged") => PermissionRule::deny("not allowed").for_tag(ToolTag::Privileged),
            _ => return Err(format!("no rule {rule}")),
        });
    }
    if text(row, "fallback")? == "allow" {
        permissions =
            permissions.otherwise(Permission::Allow).with_patience(Duration::ZERO, Approval::Approve);
    }
    let tags = entry(row, "tags")?.as_array().ok_or("`tags` is not a list")?;
    let add = ClosureTool::new("add", "", |Add { a, b }: Add| a + b).context("`add`")?;
    let add = add.map_metadata(|metadata| metadata.with_tags(tags.iter().filter_map(Value::as_str)));
    if let [overruled, ..] = permissions.overruled([add.definition()]).as_slice() {
        return Ok(Err(format!("the order of the rules lets `{overruled}` through")));
    }
    let registry = ToolRegistry::from_tools([add]).context("`add`")?;
    let dispatcher = Dispatcher::new(registry).context("`add`")?.with_middleware(permissions);
    let call = json!({"id": "c1", "type": "function", "function": {"name": "add", "arguments": r#"{"a": 1, "b": 2}"#}});
    dispatch(runtime, &dispatcher, &call)
}

fn written(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
