//! Tool choice in both directions, for both APIs.

use super::Form;
use crate::{ApiFormat, WireError};
use serde_json::{Map, Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

/// Both APIs, with the form of each.
const APIS: [(ApiFormat, Form); 2] =
    [(ApiFormat::OpenAiChat, Form::Nested), (ApiFormat::OpenAiResponses, Form::Flat)];

/// The spellings of `fs.read` and `add`.
fn names() -> WireNames {
    WireNames::new(ApiFormat::OpenAiChat.name_rule(), ["fs.read", "add"])
}

fn parse(format: ApiFormat, choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
    let request = json!({"tool_choice": choice});
    format.parse_tool_config(request.as_object().unwrap(), names).map(|wanted| wanted.choice)
}

/// A tool in a choice.
fn tool(form: Form, kind: &str, name: &str) -> Value {
    match form {
        Form::Nested => json!({"type": kind, kind: {"name": name}}),
        Form::Flat => json!({"type": kind, "name": name}),
    }
}

/// A choice with these fields, nested if the API nests them.
fn allowed(form: Form, fields: &Value) -> Value {
    let mut choice = json!({"type": "allowed_tools"});
    match form {
        Form::Nested => choice["allowed_tools"] = fields.clone(),
        Form::Flat => choice.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone()),
    }
    choice
}

fn both() -> Vec<String> {
    vec!["add".to_owned(), "fs.read".to_owned()]
}

#[test]
fn choices_go_both_ways() {
    for (format, form) in APIS {
        let tools = json!([tool(form, "function", "add"), tool(form, "function", "fs_read")]);
        let of = |mode: &str, tools: &Value| allowed(form, &json!({"mode": mode, "tools": tools}));
        let choose = |names, required| ToolChoice::Allowed { names, required };
        for (choice, wire) in [
            (ToolChoice::Auto, json!("auto")),
            (ToolChoice::None, json!("none")),
            (ToolChoice::Required, json!("required")),
            (ToolChoice::Tool("fs.read".to_owned()), tool(form, "function", "fs_read")),
            (choose(both(), true), of("required", &tools)),
            (choose(both(), false), of("auto", &tools)),
            (choose(Vec::new(), false), of("auto", &json!([]))),
        ] {
            let encoded = format.encode_tool_config(&ToolConfig::from(choice.clone()), &names());
            assert_eq!(encoded.fields["tool_choice"], wire, "{format}");
            assert_eq!(parse(format, &wire, &names()), Ok(choice), "{format}");
        }
    }
}

#[test]
fn custom_tools_have_their_own_type() {
    for (format, form) in APIS {
        let (add, read) = (tool(form, "function", "add"), tool(form, "custom", "fs_read"));
        let some = allowed(form, &json!({"mode": "auto", "tools": [add, read]}));
        let both = ToolChoice::Allowed { names: both(), required: false };
        for (choice, wire) in [(ToolChoice::Tool("fs.read".to_owned()), read), (both, some)] {
            let wanted = ToolConfig::from(choice).with_custom(["fs.read", "not in the choice"]);
            let request = format.encode_tool_config(&wanted, &names()).fields;
            assert_eq!(request["tool_choice"], wire, "{format}");
            assert_eq!(format.parse_tool_config(&request, &names()), Ok(wanted), "{format}");
        }
        let custom = parse(format, &tool(form, "custom", "patch"), &WireNames::default());
        assert_eq!(custom, Ok(ToolChoice::Tool("patch".to_owned())), "{format}");
    }
}

#[test]
fn parallel_calls_go_both_ways() {
    for (format, _) in APIS {
        for parallel in [None, Some(true), Some(false)] {
            let mut wanted = ToolConfig::from(ToolChoice::None);
            wanted.parallel = parallel;
            let fields = format.encode_tool_config(&wanted, &WireNames::default()).fields;
            assert_eq!(fields.get("parallel_tool_calls"), parallel.map(Value::from).as_ref(), "{format}");
            assert_eq!(format.parse_tool_config(&fields, &WireNames::default()), Ok(wanted), "{format}");
        }
    }
}

#[test]
fn no_choice_is_auto() {
    for (format, _) in APIS {
        assert_eq!(parse(format, &Value::Null, &WireNames::default()), Ok(ToolChoice::Auto), "{format}");
        let parsed = format.parse_tool_config(&Map::new(), &WireNames::default());
        assert_eq!(parsed, Ok(ToolConfig::default()), "{format}");
    }
}

#[test]
fn the_nested_form_is_read_as_the_flat_one() {
    let nested = tool(Form::Nested, "function", "add");
    let parsed = parse(ApiFormat::OpenAiResponses, &nested, &WireNames::default());
    assert_eq!(parsed, Ok(ToolChoice::Tool("add".to_owned())));
}

#[test]
fn what_is_wrong_has_a_path() {
    let (mode, kind) = ("`auto` or `required`", "`function`, `custom` or `allowed_tools`");
    let tools = |list: Value| json!({"mode": "auto", "tools": list});
    for (format, form) in APIS {
        let name = "the name of a tool";
        let add = tool(form, "function", "add");
        let (of_function, of_custom, inside) = match form {
            Form::Nested => (".function", ".custom", ".allowed_tools"),
            Form::Flat => ("", "", ""),
        };
        for (wire, path, expected) in [
            (json!("any"), String::new(), "`auto`, `none` or `required`"),
            (json!(true), String::new(), "a tool choice: a text or an object"),
            (json!({"type": "mcp"}), ".type".to_owned(), kind),
            (json!({"type": "web_search"}), ".type".to_owned(), kind),
            (json!({"type": "function"}), format!("{of_function}.name"), name),
            (json!({"type": "custom"}), format!("{of_custom}.name"), name),
            (json!({"type": "allowed_tools"}), format!("{inside}.mode"), mode),
            (allowed(form, &json!({"mode": "none"})), format!("{inside}.mode"), mode),
            (allowed(form, &json!({"mode": "auto"})), format!("{inside}.tools"), "a list of tools"),
            (
                allowed(form, &tools(json!([add, {"type": "custom"}]))),
                format!("{inside}.tools[1]{of_custom}.name"),
                name,
            ),
            (
                allowed(form, &tools(json!([add, {"type": "mcp", "server_label": "docs"}]))),
                format!("{inside}.tools[1]{of_function}.name"),
                name,
            ),
        ] {
            let error = parse(format, &wire, &WireNames::default()).unwrap_err();
            assert_eq!((error.path(), error.expected()), (&*format!("tool_choice{path}"), expected));
        }
        let request = json!({"parallel_tool_calls": 1});
        let error =
            format.parse_tool_config(request.as_object().unwrap(), &WireNames::default()).unwrap_err();
        assert_eq!((error.path(), error.expected()), ("parallel_tool_calls", "true or false"));
    }
    let flat = json!({"type": "function", "name": "flat"});
    let error = parse(ApiFormat::OpenAiChat, &flat, &WireNames::default()).unwrap_err();
    assert_eq!(error.path(), "tool_choice.function.name");
}
