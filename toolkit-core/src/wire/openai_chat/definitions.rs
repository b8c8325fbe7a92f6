//! The `tools` of a request.

use crate::error::WireError;
use crate::name::{ToolName, WireNames};
use crate::tool::ToolDefinition;
use crate::wire::path::{element, field};
use serde_json::{Map, Value, json};

pub(in crate::wire) fn encode_definition(definition: &ToolDefinition, names: &WireNames) -> Value {
    json!({"type": "function", "function": {
        "name": names.spell(definition.name.as_str()),
        "description": definition.description,
        "parameters": definition.parameters,
    }})
}

pub(in crate::wire) fn parse_definitions(payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
    match payload {
        Value::Array(tools) => parse_list(tools, ""),
        Value::Object(fields) if is_tool(fields) => Ok(parse_tool(payload, "")?.into_iter().collect()),
        Value::Object(request) => match request.get("tools") {
            Some(Value::Array(tools)) => parse_list(tools, "tools"),
            Some(Value::Null) => Ok(Vec::new()),
            None if request.contains_key("messages") => Ok(Vec::new()),
            Some(_) => Err(WireError::new("tools", "a list of tools")),
            None => Err(not_definitions()),
        },
        _ => Err(not_definitions()),
    }
}

fn is_tool(fields: &Map<String, Value>) -> bool {
    fields.contains_key("function") || fields.get("type").is_some_and(Value::is_string)
}

fn not_definitions() -> WireError {
    WireError::new("", "a list of tools, one tool, or a request with `tools`")
}

fn parse_list(tools: &[Value], path: &str) -> Result<Vec<ToolDefinition>, WireError> {
    let tools = tools.iter().enumerate();
    tools.filter_map(|(index, tool)| parse_tool(tool, &element(path, index)).transpose()).collect()
}

/// `None` for a tool that is not a function: `custom` ones take free text, others run at the service.
fn parse_tool(tool: &Value, path: &str) -> Result<Option<ToolDefinition>, WireError> {
    if tool.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "function") {
        return Ok(None);
    }
    let path = field(path, "function");
    let Some(function) = tool.get("function").and_then(Value::as_object) else {
        return Err(WireError::new(path, "the name, description and parameters of a function"));
    };
    let name = parse_name(function, &path)?;
    let description = parse_description(function, &path)?;
    let parameters = parse_parameters(function, &path)?;
    Ok(Some(ToolDefinition::new(name, description, parameters)))
}

fn parse_name(function: &Map<String, Value>, path: &str) -> Result<ToolName, WireError> {
    let path = field(path, "name");
    let Some(name) = function.get("name").and_then(Value::as_str) else {
        return Err(WireError::new(path, "a tool name"));
    };
    ToolName::new(name)
        .map_err(|error| WireError::new(path, format!("a tool name such as `{}`", error.suggestion())))
}

fn parse_description<'a>(function: &'a Map<String, Value>, path: &str) -> Result<&'a str, WireError> {
    match function.get("description") {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(description)) => Ok(description),
        Some(_) => Err(WireError::new(field(path, "description"), "a text")),
    }
}

/// Leaving the parameters out means that there are none, says the API reference.
fn parse_parameters(function: &Map<String, Value>, path: &str) -> Result<Value, WireError> {
    match function.get("parameters") {
        None | Some(Value::Null) => Ok(json!({"type": "object", "properties": {}})),
        Some(schema @ Value::Object(_)) => Ok(schema.clone()),
        Some(_) => Err(WireError::new(field(path, "parameters"), "a JSON Schema object")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::openai_chat::NAMES;

    fn weather() -> Value {
        json!({"type": "function", "function": {
            "name": "get_weather",
            "description": "",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }})
    }

    #[track_caller]
    fn check(payload: &Value, names: &[&str]) {
        let parsed = parse_definitions(payload).unwrap();
        let parsed: Vec<&str> = parsed.iter().map(|definition| definition.name.as_str()).collect();
        assert_eq!(parsed, names);
    }

    #[track_caller]
    fn refuse(payload: &Value, path: &str, expected: &str) {
        let error = parse_definitions(payload).unwrap_err();
        assert_eq!((error.path(), error.expected()), (path, expected));
    }

    #[test]
    fn definitions_come_back_as_they_went() {
        let parsed = parse_definitions(&weather()).unwrap();
        let names = WireNames::default();
        let encoded: Vec<Value> = parsed.iter().map(|tool| encode_definition(tool, &names)).collect();
        assert_eq!(encoded, [weather()]);
    }

    #[test]
    fn names_with_dots_are_respelled() {
        let name = ToolName::new("fs.read").unwrap();
        let names = WireNames::new(NAMES, [name.as_str()]);
        let encoded = encode_definition(&ToolDefinition::new(name, "", json!({})), &names);
        assert_eq!(encoded["function"]["name"], "fs_read");
    }

    #[test]
    fn a_list_a_tool_or_a_request() {
        let custom = json!({"type": "custom", "custom": {"name": "apply_patch"}});
        check(&weather(), &["get_weather"]);
        check(
            &json!([weather(), custom, {"type": "web_search"}, weather()]),
            &["get_weather", "get_weather"],
        );
        check(&json!({"model": "gpt-4o", "messages": [], "tools": [weather()]}), &["get_weather"]);
        check(&json!({"messages": []}), &[]);
        check(&json!({"tools": null}), &[]);
        check(&custom, &[]);
        check(&json!([]), &[]);
        check(&json!({"function": {"name": "untyped"}}), &["untyped"]);
    }

    #[test]
    fn missing_parameters_are_none() {
        for function in [json!({"name": "now"}), json!({"name": "now", "parameters": null})] {
            let parsed = parse_definitions(&json!([{"type": "function", "function": function}])).unwrap();
            assert_eq!(parsed[0].parameters, json!({"type": "object", "properties": {}}));
            assert_eq!(parsed[0].description, "");
        }
    }

    #[test]
    fn what_is_wrong_has_a_path() {
        let whole = "a list of tools, one tool, or a request with `tools`";
        let function = "the name, description and parameters of a function";
        let with =
            |function: Value| json!({"tools": [weather(), {"type": "function", "function": function}]});
        refuse(&json!(1), "", whole);
        refuse(&json!({"choices": []}), "", whole);
        refuse(&json!({"tools": "none"}), "tools", "a list of tools");
        refuse(&json!([null]), "[0].function", function);
        refuse(&json!({"type": "function", "name": "flat"}), "function", function);
        refuse(&with(json!({})), "tools[1].function.name", "a tool name");
        refuse(
            &with(json!({"name": "get weather"})),
            "tools[1].function.name",
            "a tool name such as `get_weather`",
        );
        refuse(&with(json!({"name": "a", "description": 1})), "tools[1].function.description", "a text");
        refuse(
            &with(json!({"name": "a", "parameters": []})),
            "tools[1].function.parameters",
            "a JSON Schema object",
        );
    }
}
