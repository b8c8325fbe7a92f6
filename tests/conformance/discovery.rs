//! Tool search: deferred tools that a model finds and calls.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};
use toolkit_core::{
    Dispatcher, Tool, ToolCall, ToolContext, ToolDefinition, ToolFuture, ToolMetadata, ToolName, ToolOutput,
    ToolRegistry,
};
use toolkit_llm::ApiFormat;

use crate::report::{Answer, Answers, Report};
use crate::vectors::{Context, entry, flag, rows, some_text, text};

struct Said(ToolDefinition);

impl Tool for Said {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text("v")))
    }
}

/// `discovery_toolregistry.json`
pub(crate) fn discovery(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let runtime = Builder::new_current_thread().build().context("a runtime")?;
    let registry = registry(file)?;
    let search_tools = search_tools(&registry)?;
    let dispatcher = Dispatcher::new(registry).context("the original's tools")?;
    report.section(file, "discover", &["result"], |row| {
        let mut arguments = json!({"query": entry(row, "query")?});
        if let Some(top_k) = row.get("top_k") {
            arguments["top_k"] = top_k.clone();
        }
        let ours = call(&runtime, &dispatcher, "discover_tools", &arguments);
        Ok(Answers { theirs: seen(result(entry(row, "result")?)?)?, ours: seen(ours)? })
    })?;
    report.section(file, "call_deferred", &["r"], |row| {
        let ours =
            call(&runtime, &dispatcher, "call_deferred", &json!({"_target_tool": entry(row, "target")?}));
        Ok(Answers { theirs: result(entry(row, "r")?)?, ours })
    })?;
    report.section(file, "get_deferred_summaries", &["description", "namespace"], |row| {
        let name = text(row, "name")?;
        let about = search_tools.get("discover_tools").and_then(|tool| tool.listed.get(name)).cloned();
        Ok(Answers::values(row.clone(), json!({"name": name, "description": about, "namespace": null})))
    })?;
    let by_tool = |name: &str| {
        let parts = entry(file, name)?.as_object().cloned().unwrap_or_default();
        let rows = parts.into_iter().map(|(tool, value)| json!({"tool": tool, "value": value}));
        Ok::<_, String>(json!({name: rows.collect::<Vec<_>>()}))
    };
    report.section(&by_tool("descriptions")?, "descriptions", &["value"], |row| {
        let ours = search_tools.get(text(row, "tool")?).map(|tool| &tool.listed);
        Ok(Answers::values(json!(listed(text(row, "value")?)), json!(ours)))
    })?;
    report.section(&by_tool("infra_schemas")?, "infra_schemas", &["value"], |row| {
        let theirs = &entry(row, "value")?["function"]["parameters"];
        let ours = search_tools.get(text(row, "tool")?).map(|tool| members(&tool.parameters));
        Ok(Answers::values(members(theirs), ours.unwrap_or_default()))
    })
}

struct SearchTool {
    listed: BTreeMap<String, String>,
    parameters: Value,
}

fn search_tools(registry: &ToolRegistry) -> Result<BTreeMap<String, SearchTool>, String> {
    let mut search_tools = BTreeMap::new();
    for tool in registry.definitions(ApiFormat::OpenAiChat).to_value().as_array().into_iter().flatten() {
        let function = entry(tool, "function")?;
        let listed = listed(text(function, "description")?);
        let parameters = entry(function, "parameters")?;
        search_tools.insert(
            text(function, "name")?.to_owned(),
            SearchTool { listed, parameters: parameters.clone() },
        );
    }
    Ok(search_tools)
}

fn listed(description: &str) -> BTreeMap<String, String> {
    let lines = description.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    lines.map(|(name, about)| (name.to_owned(), about.to_owned())).collect()
}

/// The schema of each argument without description, and the required ones.
fn members(schema: &Value) -> Value {
    let mut members = schema["properties"].as_object().cloned().unwrap_or_default();
    for property in members.values_mut().filter_map(Value::as_object_mut) {
        property.shift_remove("description");
    }
    members.insert("required".to_owned(), schema["required"].clone());
    members.into()
}

/// The original's tools, some shown only where they were found.
fn registry(file: &Value) -> Result<ToolRegistry, String> {
    let mut tools: BTreeMap<String, ToolDefinition> = BTreeMap::new();
    let mut add = |name: &str, description: &str, metadata: ToolMetadata| {
        let tool = ToolName::new(name).context(name)?;
        let definition = ToolDefinition::new(tool, description, json!({"type": "object"}));
        tools.entry(name.to_owned()).or_insert(definition.with_metadata(metadata));
        Ok::<_, String>(())
    };
    for tool in rows(file, "tools")? {
        let tags = entry(tool, "tags")?.as_array().into_iter().flatten().filter_map(Value::as_str);
        let metadata = ToolMetadata::default().with_defer(flag(tool, "defer")?).with_tags(tags);
        let hint = some_text(tool, "search_hint")?.unwrap_or_default();
        add(text(tool, "name")?, text(tool, "description")?, metadata.with_search_hint(hint))?;
    }
    let summaries = rows(file, "get_deferred_summaries")?;
    for row in rows(file, "discover")? {
        for found in row["result"]["ok"].as_array().into_iter().flatten() {
            let name = text(found, "name")?;
            let description = text(found, "description")?;
            let summary = summaries.iter().find(|summary| summary["name"] == name);
            let about = summary.and_then(|summary| summary["description"].as_str()).unwrap_or_default();
            let hint = if description.starts_with(about) { "" } else { about };
            let metadata = ToolMetadata::default().with_defer(flag(found, "deferred")?);
            add(name, description, metadata.with_search_hint(hint))?;
        }
    }
    let registry = ToolRegistry::from_tools(tools.into_values().map(Said)).context("the original's tools")?;
    Ok(registry.with_tool_search())
}

fn call(runtime: &Runtime, dispatcher: &Dispatcher, tool: &str, arguments: &Value) -> Answer {
    let results = runtime.block_on(dispatcher.dispatch([ToolCall::new("1", tool, arguments.to_string())]));
    let [result] = results.as_slice() else { return Err(format!("{} results", results.len())) };
    match &result.outcome {
        Ok(output) => {
            let text = output.to_text();
            Ok(serde_json::from_str(&text).unwrap_or_else(|_| text.as_ref().into()))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn result(outcome: &Value) -> Result<Answer, String> {
    match (outcome.get("ok"), outcome.get("error")) {
        (Some(value), _) => Ok(Ok(value.clone())),
        (None, Some(error)) => Ok(Err(error.to_string())),
        (None, None) => Err("neither `ok` nor `error`".to_owned()),
    }
}

/// The names of found tools in order, the text about each, and the scores.
fn seen(answer: Answer) -> Result<Answer, String> {
    let found = match answer {
        Ok(found) => found,
        refused @ Err(_) => return Ok(refused),
    };
    let mut names = Vec::new();
    let mut scores = Vec::new();
    let mut said = Map::new();
    for found in found.as_array().ok_or("what was found is no list")? {
        let name = entry(found, "name")?;
        let has_schema = found.get("parameters").is_some() || found.get("has_schema") == Some(&true.into());
        said.insert(
            text(found, "name")?.to_owned(),
            json!({
                "description": found["description"],
                "namespace": found.get("namespace"),
                "deferred": found["deferred"],
                "has_schema": has_schema,
            }),
        );
        names.push(name.clone());
        scores.push(entry(found, "score")?.clone());
    }
    Ok(Ok(json!({"names": names, "scores": scores, "said": said})))
}
