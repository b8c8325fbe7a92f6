//! The `tools` of a request.

use crate::error::WireError;
use crate::tool::ToolDefinition;
use crate::wire::declaration::{EncodedDefinition, Spelling, listed_tools, parse_named};
use crate::wire::path::field;
use serde_json::{Map, Value, json};

pub(super) fn encode_definition(definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition {
    let (parameters, losses) = how.parameters(definition);
    let json = json!({"type": "function", "function": {
        "name": how.names.spell(definition.name.as_str()),
        "description": definition.description,
        "parameters": parameters,
    }});
    EncodedDefinition { json, losses }
}

pub(super) fn parse_definitions(payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
    let tools = listed_tools(payload, is_tool, "messages")?;
    tools.into_iter().filter_map(|(path, tool)| parse_tool(tool, &path).transpose()).collect()
}

fn is_tool(fields: &Map<String, Value>) -> bool {
    fields.contains_key("function") || fields.get("type").is_some_and(Value::is_string)
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
    parse_named(function, &path, "parameters").map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{ToolName, WireNames};
    use crate::schema::SchemaDialect;
    use crate::wire::openai_chat::NAMES;

    fn encode(definition: &ToolDefinition, names: &WireNames) -> Value {
        encode_definition(definition, &Spelling { names, strict: false, dialect: SchemaDialect::OpenAi }).json
    }

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
        let encoded: Vec<Value> = parsed.iter().map(|tool| encode(tool, &names)).collect();
        assert_eq!(encoded, [weather()]);
    }

    #[test]
    fn names_with_dots_are_respelled() {
        let name = ToolName::new("fs.read").unwrap();
        let names = WireNames::new(NAMES, [name.as_str()]);
        let encoded = encode(&ToolDefinition::new(name, "", json!({})), &names);
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
