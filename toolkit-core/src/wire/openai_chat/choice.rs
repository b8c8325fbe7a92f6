//! The `tool_choice` of a request.

use crate::call::{ToolChoice, ToolUse};
use crate::error::WireError;
use crate::name::WireNames;
use crate::wire::path::{element, field};
use serde_json::{Map, Value, json};

pub(super) fn encode_tool_use(wanted: &ToolUse, names: &WireNames) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("tool_choice".to_owned(), encode_choice(&wanted.choice, names));
    if let Some(parallel) = wanted.parallel {
        fields.insert("parallel_tool_calls".to_owned(), parallel.into());
    }
    fields
}

pub(super) fn parse_tool_use(request: &Map<String, Value>, names: &WireNames) -> Result<ToolUse, WireError> {
    let choice = parse_choice(request.get("tool_choice").unwrap_or(&Value::Null), names)?;
    let parallel = match request.get("parallel_tool_calls") {
        None | Some(Value::Null) => None,
        Some(Value::Bool(parallel)) => Some(*parallel),
        Some(_) => return Err(WireError::new("parallel_tool_calls", "true or false")),
    };
    Ok(ToolUse { choice, parallel })
}

fn encode_choice(choice: &ToolChoice, names: &WireNames) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => encode_function(name, names),
        ToolChoice::Allowed { names: allowed, required } => {
            let tools: Vec<Value> = allowed.iter().map(|name| encode_function(name, names)).collect();
            let mode = if *required { "required" } else { "auto" };
            json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}})
        }
    }
}

fn encode_function(name: &str, names: &WireNames) -> Value {
    json!({"type": "function", "function": {"name": names.spell(name)}})
}

fn parse_choice(choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
    match choice {
        // What a request without the field means as soon as it has tools.
        Value::Null => Ok(ToolChoice::Auto),
        Value::String(mode) => parse_mode(mode),
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            Some("function" | "custom") => parse_tool(choice, "", names).map(ToolChoice::Tool),
            Some("allowed_tools") => parse_allowed(choice, names),
            _ => Err(WireError::new("type", "`function`, `custom` or `allowed_tools`")),
        },
        _ => Err(WireError::new("", "a tool choice: a text or an object")),
    }
}

fn parse_mode(mode: &str) -> Result<ToolChoice, WireError> {
    match mode {
        "auto" => Ok(ToolChoice::Auto),
        "none" => Ok(ToolChoice::None),
        "required" => Ok(ToolChoice::Required),
        _ => Err(WireError::new("", "`auto`, `none` or `required`")),
    }
}

fn parse_allowed(choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
    let path = "allowed_tools";
    let allowed = choice.get(path);
    let required = match allowed.and_then(|allowed| allowed.get("mode")).and_then(Value::as_str) {
        Some("auto") => false,
        Some("required") => true,
        _ => return Err(WireError::new(field(path, "mode"), "`auto` or `required`")),
    };
    let path = field(path, "tools");
    let Some(tools) = allowed.and_then(|allowed| allowed.get("tools")).and_then(Value::as_array) else {
        return Err(WireError::new(path, "a list of tools"));
    };
    let tools = tools.iter().enumerate();
    let allowed = tools.map(|(index, tool)| parse_tool(tool, &element(&path, index), names));
    Ok(ToolChoice::Allowed { names: allowed.collect::<Result<_, _>>()?, required })
}

/// A tool by its name: `{type: function, function: {name}}`, or the same with `custom`.
fn parse_tool(tool: &Value, path: &str, names: &WireNames) -> Result<String, WireError> {
    let kind = if tool.get("type").is_some_and(|kind| kind == "custom") { "custom" } else { "function" };
    match tool.get(kind).and_then(|part| part.get("name")).and_then(Value::as_str) {
        Some(name) => Ok(names.unspell(name).to_owned()),
        None => Err(WireError::new(field(&field(path, kind), "name"), "the name of a tool")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::openai_chat::NAMES;

    #[track_caller]
    fn check(choice: &ToolChoice, wire: &Value) {
        let names = WireNames::new(NAMES, ["fs.read", "add"]);
        assert_eq!(encode_choice(choice, &names), *wire);
        assert_eq!(parse_choice(wire, &names).as_ref(), Ok(choice));
    }

    #[track_caller]
    fn refuse(wire: &Value, path: &str, expected: &str) {
        let error = parse_choice(wire, &WireNames::default()).unwrap_err();
        assert_eq!((error.path(), error.expected()), (path, expected));
    }

    #[test]
    fn choices_go_both_ways() {
        let add = json!({"type": "function", "function": {"name": "add"}});
        let read = json!({"type": "function", "function": {"name": "fs_read"}});
        let allowed = |mode: &str, tools: Value| json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}});
        let both = vec!["add".to_owned(), "fs.read".to_owned()];
        check(&ToolChoice::Auto, &json!("auto"));
        check(&ToolChoice::None, &json!("none"));
        check(&ToolChoice::Required, &json!("required"));
        check(&ToolChoice::Tool("fs.read".to_owned()), &read);
        check(
            &ToolChoice::Allowed { names: both.clone(), required: true },
            &allowed("required", json!([add, read])),
        );
        check(&ToolChoice::Allowed { names: both, required: false }, &allowed("auto", json!([add, read])));
        check(&ToolChoice::Allowed { names: Vec::new(), required: false }, &allowed("auto", json!([])));
    }

    #[test]
    fn a_custom_tool_is_a_tool() {
        let custom = json!({"type": "custom", "custom": {"name": "patch"}});
        assert_eq!(parse_choice(&custom, &WireNames::default()), Ok(ToolChoice::Tool("patch".to_owned())));
    }

    #[test]
    fn no_choice_is_auto() {
        assert_eq!(parse_choice(&Value::Null, &WireNames::default()), Ok(ToolChoice::Auto));
    }

    #[test]
    fn what_is_wrong_has_a_path() {
        let mode = "`auto` or `required`";
        refuse(&json!("any"), "", "`auto`, `none` or `required`");
        refuse(&json!(true), "", "a tool choice: a text or an object");
        refuse(&json!({"type": "mcp"}), "type", "`function`, `custom` or `allowed_tools`");
        refuse(&json!({"type": "function", "name": "flat"}), "function.name", "the name of a tool");
        refuse(&json!({"type": "custom", "name": "flat"}), "custom.name", "the name of a tool");
        refuse(&json!({"type": "allowed_tools"}), "allowed_tools.mode", mode);
        refuse(
            &json!({"type": "allowed_tools", "allowed_tools": {"mode": "none"}}),
            "allowed_tools.mode",
            mode,
        );
        refuse(
            &json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}),
            "allowed_tools.tools",
            "a list of tools",
        );
        refuse(
            &json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
                {"type": "function", "function": {"name": "add"}}, {"type": "custom", "name": "x"},
            ]}}),
            "allowed_tools.tools[1].custom.name",
            "the name of a tool",
        );
    }
}
