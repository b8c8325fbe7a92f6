//! The tools of requests, and the fields that definitions have in every API.

use super::RequestCodec;
use crate::json::WireError;
use crate::json::fields::{Fields, elements, field, optional, text};
use serde_json::{Value, json};
use toolkit_core::definition::{TextFormat, ToolDefinition, ToolMetadata};
use toolkit_core::name::ToolName;

/// Returns the tools in a list, or in a request with `tools`, each with its path. A request may have only
/// messages.
pub(super) fn listed<'a>(
    codec: &dyn RequestCodec,
    payload: &'a Value,
) -> Result<Vec<(String, &'a Value)>, WireError> {
    let messages = codec.facts().fields.messages;
    let (tools, path) = match (payload, payload.get("tools")) {
        (Value::Array(tools), _) => (tools.as_slice(), ""),
        (_, Some(Value::Array(tools))) => (tools.as_slice(), "tools"),
        // Gemini reads an object as a list with one element.
        (_, Some(tool @ Value::Object(_))) => return Ok(vec![("tools".to_owned(), tool)]),
        (_, Some(Value::Null)) => (&[][..], "tools"),
        (_, Some(_)) => return Err(WireError::new("tools", "a list of tools")),
        (_, None) if payload.get(messages).is_some() => (&[][..], "tools"),
        (_, None) => return Err(WireError::new("", "a list of tools, or a request with `tools`")),
    };
    Ok(elements(tools, path).collect())
}

/// Parses a definition from its `name`, its `description`, and the parameter schema in the field `key`, if
/// any.
pub(super) fn parse_named(function: &Fields, path: &str, key: &str) -> Result<ToolDefinition, WireError> {
    let name = parse_name(function.get("name"), &field(path, "name"))?;
    let description = optional(function, path, "description", "a text", Value::as_str)?.unwrap_or_default();
    let parameters = match optional(function, path, key, "a JSON Schema object", Value::as_object)? {
        Some(schema) => schema.clone().into(),
        None => json!({"type": "object", "properties": {}}),
    };
    Ok(ToolDefinition::new(name, description, parameters))
}

fn parse_name(name: Option<&Value>, path: &str) -> Result<ToolName, WireError> {
    let Some(name) = name.and_then(Value::as_str) else { return Err(WireError::new(path, "a tool name")) };
    ToolName::new(name)
        .map_err(|error| WireError::new(path, format!("a tool name such as `{}`", error.suggestion())))
}

/// Parses the input format of a custom tool. The grammar is in `format`, or in its field `grammar`.
pub(super) fn parse_format(format: &Value) -> Option<TextFormat> {
    let grammar = format.get("grammar").unwrap_or(format);
    if text(format, "type") == "text" {
        return Some(TextFormat::Text);
    }
    let definition = grammar.get("definition").and_then(Value::as_str);
    match text(grammar, "syntax") {
        "lark" => Some(TextFormat::Lark(definition?.to_owned())),
        "regex" => Some(TextFormat::Regex(definition?.to_owned())),
        _ => None,
    }
}

/// Reads settings of Anthropic's API and OpenAI's Responses API.
pub(super) fn read_settings(tool: &Fields, path: &str, metadata: &mut ToolMetadata) -> Result<(), WireError> {
    metadata.strict = flag(tool, path, "strict")?;
    metadata.defer = flag(tool, path, "defer_loading")?.unwrap_or_default();
    let callers = optional(tool, path, "allowed_callers", "a list of texts", texts)?;
    metadata.allowed_callers = callers.unwrap_or_default();
    Ok(())
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    for text in value.as_array()? {
        texts.push(text.as_str()?.to_owned());
    }
    Some(texts)
}

pub(super) fn flag(fields: &Fields, path: &str, name: &str) -> Result<Option<bool>, WireError> {
    optional(fields, path, name, "true or false", Value::as_bool)
}

pub(super) fn required<'a>(
    value: &'a Value,
    path: &str,
    name: &str,
    expected: &str,
) -> Result<&'a str, WireError> {
    value.get(name).and_then(Value::as_str).ok_or_else(|| WireError::new(field(path, name), expected))
}
