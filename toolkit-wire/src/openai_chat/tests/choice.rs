//! Tool choice in both directions.

use crate::WireError;
use crate::codec::ChoiceCodec;
use crate::openai_chat::{FACTS, OpenAiChat};
use serde_json::{Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

#[track_caller]
fn parse(choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
    let request = json!({"tool_choice": choice});
    OpenAiChat.parse_tool_config(request.as_object().unwrap(), names).map(|wanted| wanted.choice)
}

#[track_caller]
fn check(choice: &ToolChoice, wire: &Value) {
    let names = WireNames::new(FACTS.names, ["fs.read", "add"]);
    assert_eq!(
        OpenAiChat.encode_tool_config(&ToolConfig::from(choice.clone()), &names).fields["tool_choice"],
        *wire
    );
    assert_eq!(parse(wire, &names).as_ref(), Ok(choice));
}

#[track_caller]
fn refuse(wire: &Value, path: &str, expected: &str) {
    let error = parse(wire, &WireNames::default()).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected));
}

#[test]
fn custom_tools_are_named_as_custom_in_the_tool_choice() {
    let names = WireNames::new(FACTS.names, ["fs.read", "add"]);
    let (add, read) = (
        json!({"type": "function", "function": {"name": "add"}}),
        json!({"type": "custom", "custom": {"name": "fs_read"}}),
    );
    let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [add, read]}});
    let both = ToolChoice::Allowed { names: vec!["add".to_owned(), "fs.read".to_owned()], required: false };
    for (choice, wire) in [(ToolChoice::Tool("fs.read".to_owned()), read), (both, allowed)] {
        let wanted = ToolConfig::from(choice).with_custom(["fs.read", "not in the choice"]);
        let request = OpenAiChat.encode_tool_config(&wanted, &names).fields;
        assert_eq!(request["tool_choice"], wire);
        assert_eq!(OpenAiChat.parse_tool_config(&request, &names), Ok(wanted));
    }
}

#[test]
fn tool_choices_round_trip() {
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
fn a_custom_tool_is_parsed_from_the_tool_choice() {
    let custom = json!({"type": "custom", "custom": {"name": "patch"}});
    assert_eq!(parse(&custom, &WireNames::default()), Ok(ToolChoice::Tool("patch".to_owned())));
}

#[test]
fn a_missing_tool_choice_is_auto() {
    assert_eq!(parse(&Value::Null, &WireNames::default()), Ok(ToolChoice::Auto));
}

#[test]
fn errors_state_the_path() {
    let mode = "`auto` or `required`";
    refuse(&json!("any"), "tool_choice", "`auto`, `none` or `required`");
    refuse(&json!(true), "tool_choice", "a tool choice: a text or an object");
    refuse(&json!({"type": "mcp"}), "tool_choice.type", "`function`, `custom` or `allowed_tools`");
    refuse(&json!({"type": "function", "name": "flat"}), "tool_choice.function.name", "the name of a tool");
    refuse(&json!({"type": "custom", "name": "flat"}), "tool_choice.custom.name", "the name of a tool");
    refuse(&json!({"type": "allowed_tools"}), "tool_choice.allowed_tools.mode", mode);
    refuse(
        &json!({"type": "allowed_tools", "allowed_tools": {"mode": "none"}}),
        "tool_choice.allowed_tools.mode",
        mode,
    );
    refuse(
        &json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}),
        "tool_choice.allowed_tools.tools",
        "a list of tools",
    );
    refuse(
        &json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
            {"type": "function", "function": {"name": "add"}}, {"type": "custom", "name": "x"},
        ]}}),
        "tool_choice.allowed_tools.tools[1].custom.name",
        "the name of a tool",
    );
}
