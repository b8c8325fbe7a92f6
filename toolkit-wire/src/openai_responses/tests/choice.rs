//! Tool choice in both directions.

use crate::WireError;
use crate::codec::ChoiceCodec;
use crate::openai_responses::{FACTS, OpenAiResponses};
use serde_json::{Map, Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

#[track_caller]
fn parse(choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
    let request = json!({"tool_choice": choice});
    OpenAiResponses.parse_tool_config(request.as_object().unwrap(), names).map(|wanted| wanted.choice)
}

#[track_caller]
fn check(choice: &ToolChoice, wire: &Value) {
    let names = WireNames::new(FACTS.names, ["fs.read", "add"]);
    let wanted = ToolConfig::from(choice.clone());
    assert_eq!(OpenAiResponses.encode_tool_config(&wanted, &names).fields["tool_choice"], *wire);
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
    let (add, read) =
        (json!({"type": "function", "name": "add"}), json!({"type": "custom", "name": "fs_read"}));
    let allowed = json!({"type": "allowed_tools", "mode": "auto", "tools": [add, read]});
    let both = ToolChoice::Allowed { names: vec!["add".to_owned(), "fs.read".to_owned()], required: false };
    for (choice, wire) in [(ToolChoice::Tool("fs.read".to_owned()), read), (both, allowed)] {
        let wanted = ToolConfig::from(choice).with_custom(["fs.read", "not in the choice"]);
        let request = OpenAiResponses.encode_tool_config(&wanted, &names).fields;
        assert_eq!(request["tool_choice"], wire);
        assert_eq!(OpenAiResponses.parse_tool_config(&request, &names), Ok(wanted));
    }
}

#[test]
fn tool_choices_round_trip() {
    let add = json!({"type": "function", "name": "add"});
    let read = json!({"type": "function", "name": "fs_read"});
    let allowed = |mode: &str, tools: Value| json!({"type": "allowed_tools", "mode": mode, "tools": tools});
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
fn parallel_tool_calls_round_trip() {
    for parallel in [None, Some(true), Some(false)] {
        let mut wanted = ToolConfig::from(ToolChoice::None);
        wanted.parallel = parallel;
        let names = WireNames::default();
        let fields = OpenAiResponses.encode_tool_config(&wanted, &names).fields;
        assert_eq!(fields.get("parallel_tool_calls"), parallel.map(Value::from).as_ref());
        assert_eq!(OpenAiResponses.parse_tool_config(&fields, &names), Ok(wanted));
    }
}

#[test]
fn other_spellings_are_parsed() {
    let names = WireNames::default();
    let add = Ok(ToolChoice::Tool("add".to_owned()));
    assert_eq!(parse(&json!({"type": "function", "function": {"name": "add"}}), &names), add);
    assert_eq!(parse(&json!({"type": "custom", "name": "add"}), &names), add);
    assert_eq!(OpenAiResponses.parse_tool_config(&Map::new(), &names), Ok(ToolConfig::default()));
}

#[test]
fn errors_state_the_path() {
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
    let error =
        OpenAiResponses.parse_tool_config(parallel.as_object().unwrap(), &WireNames::default()).unwrap_err();
    assert_eq!((error.path(), error.expected()), ("parallel_tool_calls", "true or false"));
}
