//! The argument for a call's reason: where it is published, and how.

use serde_json::{Value, json};
use toolkit_ai::llm::ApiFormat;
use toolkit_ai::{Tool, ToolContext, ToolDefinition, ToolFuture, ToolMetadata, ToolName, ToolRegistry};

use crate::report::{Answers, Report};
use crate::vectors::{Context, entry, flag};

/// The original's name of the argument.
const THEIR_REASON: &str = "toolcall_reason";

/// `think_augment` of `schemas_toolregistry.json`
pub(crate) fn think(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    report.section(file, "think_augment", &["get_schemas", "tool.get_schema (no registry)"], |row| {
        let schemas = entry(row, "get_schemas")?;
        let alone = entry(entry(row, "tool.get_schema (no registry)")?, "ok")?;
        let tool = of_schema(function(alone)?, row.get("metadata.think_augment").and_then(Value::as_bool))?;
        let registry = |think| {
            let registry = ToolRegistry::from_tools([tool.clone()]).map_err(|error| error.to_string());
            registry.map(|registry| registry.with_call_reason(think))
        };
        let with = registry(flag(row, "registry.think_augment")?)?;
        let without = registry(false)?;
        let mut theirs = json!({"alone": arguments(function(alone)?)});
        let chat = without.definitions(ApiFormat::OpenAiChat).to_value();
        let mut ours = json!({"alone": arguments(function(&chat[0])?)});
        for (name, format, place) in [
            ("openai-chat", ApiFormat::OpenAiChat, "/0/function/parameters"),
            ("openai-responses", ApiFormat::OpenAiResponses, "/0/parameters"),
            ("anthropic", ApiFormat::Anthropic, "/0/input_schema"),
            ("gemini", ApiFormat::Gemini, "/0/function_declarations/0/parameters"),
        ] {
            let list = json!([entry(entry(schemas, name)?, "ok")?]);
            let their_place = if format == ApiFormat::Gemini { "/0/parameters" } else { place };
            let at = |list: &Value, place: &str| list.pointer(place).map(arguments).ok_or("no parameters");
            theirs[name] = at(&list, their_place)?;
            ours[name] = at(&with.definitions(format).to_value(), place)?;
        }
        Ok(Answers::values(theirs, ours))
    })
}

fn function(tool: &Value) -> Result<&Value, String> {
    entry(entry(tool, "function")?, "parameters")
}

/// The arguments' names in order, the required ones, and the reason less its type's spelling.
fn arguments(schema: &Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let names = properties.clone().map(|(name, _)| if name == THEIR_REASON { "call_reason" } else { name });
    let mut reasons = properties.filter(|(name, _)| *name == THEIR_REASON || *name == "call_reason");
    let reason = reasons.next().and_then(|(_, reason)| reason.get("description"));
    let names: Vec<&str> = names.collect();
    json!({"names": names, "required": schema.get("required"), "reason": reason})
}

/// A schema's tool, less the original's argument.
fn of_schema(schema: &Value, think: Option<bool>) -> Result<Described, String> {
    let mut schema = schema.clone();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.shift_remove(THEIR_REASON);
    }
    let mut metadata = ToolMetadata::default();
    metadata.call_reason = think;
    let name = ToolName::new("f1").context("f1")?;
    Ok(Described(ToolDefinition::new(name, "Doc.", schema).with_metadata(metadata)))
}

#[derive(Clone)]
struct Described(ToolDefinition);

impl Tool for Described {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(arguments.into()))
    }
}
