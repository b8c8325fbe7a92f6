//! The `tool_choice` and the `parallel_tool_calls` of a request.

use crate::call::{ToolChoice, ToolUse};
use crate::error::WireError;
use crate::name::WireNames;
use crate::wire::path::{element, field};
use serde_json::{Map, Value, json};

const CHOICE: &str = "tool_choice";
const PARALLEL: &str = "parallel_tool_calls";

pub(super) fn encode_tool_use(wanted: &ToolUse, names: &WireNames) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert(CHOICE.to_owned(), encode_choice(&wanted.choice, names));
    if let Some(parallel) = wanted.parallel {
        fields.insert(PARALLEL.to_owned(), parallel.into());
    }
    fields
}

pub(super) fn parse_tool_use(request: &Map<String, Value>, names: &WireNames) -> Result<ToolUse, WireError> {
    let choice = parse_choice(request.get(CHOICE).unwrap_or(&Value::Null), names)?;
    let parallel = match request.get(PARALLEL) {
        None | Some(Value::Null) => None,
        Some(Value::Bool(parallel)) => Some(*parallel),
        Some(_) => return Err(WireError::new(PARALLEL, "true or false")),
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
            json!({"type": "allowed_tools", "mode": mode, "tools": tools})
        }
    }
}

fn encode_function(name: &str, names: &WireNames) -> Value {
    json!({"type": "function", "name": names.spell(name)})
}

fn parse_choice(choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
    match choice {
        // What a request without the field means as soon as it has tools.
        Value::Null => Ok(ToolChoice::Auto),
        Value::String(mode) => match mode.as_str() {
            "auto" => Ok(ToolChoice::Auto),
            "none" => Ok(ToolChoice::None),
            "required" => Ok(ToolChoice::Required),
            _ => Err(WireError::new(CHOICE, "`auto`, `none` or `required`")),
        },
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            Some("function" | "custom") => parse_name(choice, CHOICE, names).map(ToolChoice::Tool),
            Some("allowed_tools") => parse_allowed(choice, names),
            _ => Err(WireError::new(field(CHOICE, "type"), "`function`, `custom` or `allowed_tools`")),
        },
        _ => Err(WireError::new(CHOICE, "a tool choice: a text or an object")),
    }
}

fn parse_allowed(choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
    let required = match choice.get("mode").and_then(Value::as_str) {
        Some("auto") => false,
        Some("required") => true,
        _ => return Err(WireError::new(field(CHOICE, "mode"), "`auto` or `required`")),
    };
    let path = field(CHOICE, "tools");
    let Some(tools) = choice.get("tools").and_then(Value::as_array) else {
        return Err(WireError::new(path, "a list of tools"));
    };
    let tools = tools.iter().enumerate();
    let allowed = tools.map(|(index, tool)| parse_name(tool, &element(&path, index), names));
    Ok(ToolChoice::Allowed { names: allowed.collect::<Result<_, _>>()?, required })
}

/// The name stands in the tool, or as in Chat Completions in its `function` or `custom`.
fn parse_name(tool: &Value, path: &str, names: &WireNames) -> Result<String, WireError> {
    let nested = tool.get("function").or_else(|| tool.get("custom"));
    match nested.unwrap_or(tool).get("name").and_then(Value::as_str) {
        Some(name) => Ok(names.unspell(name).to_owned()),
        None => Err(WireError::new(field(path, "name"), "the name of a tool")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::openai_responses::NAMES;

    #[track_caller]
    fn parse(choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
        let request = json!({"tool_choice": choice});
        parse_tool_use(request.as_object().unwrap(), names).map(|wanted| wanted.choice)
    }

    #[track_caller]
    fn check(choice: &ToolChoice, wire: &Value) {
        let names = WireNames::new(NAMES, ["fs.read", "add"]);
        let wanted = ToolUse::from(choice.clone());
        assert_eq!(encode_tool_use(&wanted, &names)["tool_choice"], *wire);
        assert_eq!(parse(wire, &names).as_ref(), Ok(choice));
    }

    #[track_caller]
    fn refuse(wire: &Value, path: &str, expected: &str) {
        let error = parse(wire, &WireNames::default()).unwrap_err();
        assert_eq!((error.path(), error.expected()), (path, expected));
    }

    #[test]
    fn choices_go_both_ways() {
        let add = json!({"type": "function", "name": "add"});
        let read = json!({"type": "function", "name": "fs_read"});
        let allowed =
            |mode: &str, tools: Value| json!({"type": "allowed_tools", "mode": mode, "tools": tools});
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
    fn calls_at_once() {
        for parallel in [None, Some(true), Some(false)] {
            let wanted = ToolUse { choice: ToolChoice::None, parallel };
            let names = WireNames::default();
            let fields = encode_tool_use(&wanted, &names);
            assert_eq!(fields.get("parallel_tool_calls"), parallel.map(Value::from).as_ref());
            assert_eq!(parse_tool_use(&fields, &names), Ok(wanted));
        }
    }

    #[test]
    fn other_spellings_are_read() {
        let names = WireNames::default();
        let add = Ok(ToolChoice::Tool("add".to_owned()));
        assert_eq!(parse(&json!({"type": "function", "function": {"name": "add"}}), &names), add);
        assert_eq!(parse(&json!({"type": "custom", "name": "add"}), &names), add);
        assert_eq!(parse_tool_use(&Map::new(), &names), Ok(ToolUse::default()));
    }

    #[test]
    fn what_is_wrong_has_a_path() {
        let mode = "`auto` or `required`";
        refuse(&json!("any"), "tool_choice", "`auto`, `none` or `required`");
        refuse(&json!(true), "tool_choice", "a tool choice: a text or an object");
        refuse(&json!({"type": "web_search"}), "tool_choice.type", "`function`, `custom` or `allowed_tools`");
        refuse(&json!({"type": "function"}), "tool_choice.name", "the name of a tool");
        refuse(&json!({"type": "allowed_tools", "mode": "none"}), "tool_choice.mode", mode);
        refuse(&json!({"type": "allowed_tools", "mode": "auto"}), "tool_choice.tools", "a list of tools");
        refuse(
            &json!({"type": "allowed_tools", "mode": "auto", "tools": [
                {"type": "function", "name": "add"}, {"type": "mcp", "server_label": "docs"},
            ]}),
            "tool_choice.tools[1].name",
            "the name of a tool",
        );
        let parallel = json!({"parallel_tool_calls": 1});
        let error = parse_tool_use(parallel.as_object().unwrap(), &WireNames::default()).unwrap_err();
        assert_eq!((error.path(), error.expected()), ("parallel_tool_calls", "true or false"));
    }
}
