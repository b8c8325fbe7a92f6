//! Tests of encoding and parsing tool choice and parallel tool calls, in both OpenAI APIs.

use crate::ApiFormat::{self, OpenAiChat, OpenAiResponses};
use crate::WireError;
use crate::translate::RequestFormat;
use serde_json::{Map, Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

const BOTH: [ApiFormat; 2] = [OpenAiChat, OpenAiResponses];

fn names() -> WireNames {
    WireNames::new(OpenAiChat.name_rule(), ["fs.read", "add"])
}

/// Returns the JSON that names a tool in a tool choice.
fn tool(format: ApiFormat, kind: &str, name: &str) -> Value {
    match format {
        OpenAiChat => json!({"type": kind, kind: {"name": name}}),
        _ => json!({"type": kind, "name": name}),
    }
}

/// Returns the JSON of a tool choice that is limited to `tools`.
fn allowed(format: ApiFormat, mode: &str, tools: Value) -> Value {
    match format {
        OpenAiChat => json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}),
        _ => json!({"type": "allowed_tools", "mode": mode, "tools": tools}),
    }
}

fn reader(format: ApiFormat) -> RequestFormat {
    RequestFormat::of(format).unwrap()
}

fn parse(format: ApiFormat, choice: &Value) -> Result<ToolConfig, WireError> {
    reader(format).parse_tool_config(json!({"tool_choice": choice}).as_object().unwrap(), &names())
}

/// Checks that `wanted` is written as `wire`, and that `wire` is parsed as `wanted`.
#[track_caller]
fn check(format: ApiFormat, wanted: impl Into<ToolConfig>, wire: &Value) {
    let wanted = wanted.into();
    assert_eq!(format.encode_tool_config(&wanted, &names()).fields["tool_choice"], *wire);
    assert_eq!(parse(format, wire), Ok(wanted));
}

#[track_caller]
fn refuse(format: ApiFormat, wire: &Value, path: &str, expected: &str) {
    let error = parse(format, wire).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected));
}

#[test]
fn tool_choices_round_trip() {
    for format in BOTH {
        let tools = json!([tool(format, "function", "add"), tool(format, "function", "fs_read")]);
        let both = vec!["add".to_owned(), "fs.read".to_owned()];
        check(format, ToolChoice::Auto, &json!("auto"));
        check(format, ToolChoice::None, &json!("none"));
        check(format, ToolChoice::Required, &json!("required"));
        check(format, ToolChoice::Tool("fs.read".to_owned()), &tools[1]);
        for (names, required, wire) in [
            (both.clone(), true, allowed(format, "required", tools.clone())),
            (both.clone(), false, allowed(format, "auto", tools)),
            (Vec::new(), false, allowed(format, "auto", json!([]))),
        ] {
            check(format, ToolChoice::Allowed { names, required }, &wire);
        }
    }
}

#[test]
fn custom_tools_are_named_as_custom_in_the_tool_choice() {
    for format in BOTH {
        let add = tool(format, "function", "add");
        let read = tool(format, "custom", "fs_read");
        let both = vec!["add".to_owned(), "fs.read".to_owned()];
        let allowed = allowed(format, "auto", json!([add, read]));
        for (choice, wire) in [
            (ToolChoice::Tool("fs.read".to_owned()), read),
            (ToolChoice::Allowed { names: both, required: false }, allowed),
        ] {
            check(format, ToolConfig::from(choice).with_custom(["fs.read", "not in the choice"]), &wire);
        }
    }
}

#[test]
fn parallel_tool_calls_round_trip() {
    for format in BOTH {
        for parallel in [None, Some(true), Some(false)] {
            let mut wanted = ToolConfig::from(ToolChoice::None);
            wanted.parallel = parallel;
            let fields = format.encode_tool_config(&wanted, &names()).fields;
            assert_eq!(fields.get("parallel_tool_calls"), parallel.map(Value::from).as_ref());
            assert_eq!(reader(format).parse_tool_config(&fields, &names()), Ok(wanted));
        }
        let wrong = json!({"parallel_tool_calls": 1});
        let error = reader(format).parse_tool_config(wrong.as_object().unwrap(), &names()).unwrap_err();
        assert_eq!((error.path(), error.expected()), ("parallel_tool_calls", "true or false"));
    }
}

#[test]
fn a_missing_tool_choice_is_auto() {
    for format in BOTH {
        assert_eq!(parse(format, &Value::Null), Ok(ToolConfig::default()));
        assert_eq!(reader(format).parse_tool_config(&Map::new(), &names()), Ok(ToolConfig::default()));
    }
}

#[test]
fn responses_accept_the_nested_form_of_chat_completions() {
    let nested = parse(OpenAiResponses, &tool(OpenAiChat, "function", "add"));
    assert_eq!(nested, Ok(ToolChoice::Tool("add".to_owned()).into()));
}

#[test]
fn errors_state_the_path() {
    let kind = "`function`, `custom` or `allowed_tools`";
    let mode = "`auto` or `required`";
    let name = "the name of a tool";
    let list = "a list of tools";
    for (format, inside, name_field, foreign) in
        [(OpenAiChat, ".allowed_tools", ".function.name", "mcp"), (OpenAiResponses, "", ".name", "tool")]
    {
        let refuse = |wire: &Value, path: &str, expected| {
            refuse(format, wire, &format!("tool_choice{path}"), expected);
        };
        refuse(&json!("some"), "", "`auto`, `none` or `required`");
        refuse(&json!(true), "", "a tool choice: a text or an object");
        refuse(&json!({"type": foreign}), ".type", kind);
        refuse(&json!({"type": "function"}), name_field, name);
        refuse(&json!({"type": "allowed_tools"}), &format!("{inside}.mode"), mode);
        refuse(&allowed(format, "none", json!([])), &format!("{inside}.mode"), mode);
        refuse(&allowed(format, "auto", Value::Null), &format!("{inside}.tools"), list);
    }
    let second =
        |format, second: Value| allowed(format, "auto", json!([tool(format, "function", "add"), second]));
    let chat = second(OpenAiChat, json!({"type": "custom", "name": "x"}));
    refuse(OpenAiChat, &chat, "tool_choice.allowed_tools.tools[1].custom.name", name);
    refuse(OpenAiChat, &json!({"type": "custom", "name": "flat"}), "tool_choice.custom.name", name);
    refuse(OpenAiChat, &json!({"type": "function", "name": "flat"}), "tool_choice.function.name", name);
    let responses = second(OpenAiResponses, json!({"type": "function", "server_label": "docs"}));
    refuse(OpenAiResponses, &responses, "tool_choice.tools[1].name", name);
}

#[test]
fn choices_of_hosted_tools_are_kept_for_the_same_api() {
    let search = json!({"type": "web_search_preview"});
    let mcp = json!({"type": "mcp", "server_label": "docs", "name": "read"});
    let mixed = allowed(OpenAiResponses, "auto", json!([tool(OpenAiResponses, "function", "add"), mcp]));
    for (wire, choice) in [
        (search, ToolChoice::Required),
        (mcp, ToolChoice::Required),
        (mixed, ToolChoice::Allowed { names: vec!["add".to_owned()], required: false }),
    ] {
        let config = parse(OpenAiResponses, &wire).unwrap();
        assert_eq!(config.choice, choice);
        assert_eq!(OpenAiResponses.encode_tool_config(&config, &names()).fields["tool_choice"], wire);
        let other = OpenAiChat.encode_tool_config(&config, &names());
        assert!(!other.losses.is_empty());
        let mut changed = config;
        changed.choice = ToolChoice::None;
        assert_eq!(OpenAiResponses.encode_tool_config(&changed, &names()).fields["tool_choice"], "none");
    }
}
