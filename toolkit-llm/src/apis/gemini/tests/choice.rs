//! Tests of the tool choice.

use crate::apis::gemini::Gemini;
use crate::fields::Fields;
use crate::tool_config::ChoiceCodec;
use crate::translate::RequestFormat;
use serde_json::{Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::{NameRule, WireNames};

fn names() -> WireNames {
    WireNames::new(NameRule { max_length: 9, punctuation: "_", letter_first: false }, ["fs.read", "add"])
}

fn request(config: &Value) -> Fields {
    Fields::from_iter([("toolConfig".to_owned(), json!({"functionCallingConfig": config}))])
}

#[track_caller]
fn writes(choice: ToolChoice, config: &Value) {
    assert_eq!(Gemini.encode_tool_config(&choice.into(), &names()).fields, request(config));
}

#[track_caller]
fn reads(config: &Value, choice: ToolChoice) {
    let parsed = RequestFormat::Gemini.parse_tool_config(&request(config), &names()).unwrap();
    assert_eq!((parsed.choice, parsed.parallel), (choice, None), "{config}");
}

#[track_caller]
fn both(choice: ToolChoice, config: &Value) {
    writes(choice.clone(), config);
    reads(config, choice);
}

fn allowed(names: &[&str], required: bool) -> ToolChoice {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    ToolChoice::Allowed { names, required }
}

#[test]
fn tool_choices_round_trip() {
    both(ToolChoice::Auto, &json!({"mode": "AUTO"}));
    both(ToolChoice::None, &json!({"mode": "NONE"}));
    both(ToolChoice::Required, &json!({"mode": "ANY"}));
    both(
        ToolChoice::Tool("fs.read".to_owned()),
        &json!({"mode": "ANY", "allowedFunctionNames": ["fs_read"]}),
    );
    both(
        allowed(&["add", "fs.read"], true),
        &json!({"mode": "ANY", "allowedFunctionNames": ["add", "fs_read"]}),
    );
    both(allowed(&["add"], false), &json!({"mode": "VALIDATED", "allowedFunctionNames": ["add"]}));
}

#[test]
fn an_empty_set_of_allowed_tools_forbids_calls() {
    writes(allowed(&[], false), &json!({"mode": "NONE"}));
    writes(allowed(&[], true), &json!({"mode": "NONE"}));
}

#[test]
fn a_limit_to_one_call_is_reported_as_lost() {
    let one = ToolConfig::default().with_parallel(false);
    let encoded = Gemini.encode_tool_config(&one, &names());
    assert_eq!(encoded.fields, request(&json!({"mode": "AUTO"})));
    assert_eq!(encoded.losses[0].path, "/parallel");
    for said in
        [ToolConfig::default().with_parallel(true), ToolConfig::from(ToolChoice::None).with_parallel(false)]
    {
        assert!(Gemini.encode_tool_config(&said, &names()).losses.is_empty());
    }
}

#[test]
fn other_spellings_are_parsed() {
    reads(&json!({}), ToolChoice::Auto);
    reads(&json!({"mode": null}), ToolChoice::Auto);
    reads(&json!({"mode": "MODE_UNSPECIFIED"}), ToolChoice::Auto);
    reads(&json!({"mode": "VALIDATED"}), ToolChoice::Auto);
    reads(&json!({"mode": "any", "allowed_function_names": []}), ToolChoice::Required);
    reads(&json!({"mode": "AUTO", "allowedFunctionNames": ["add"]}), allowed(&["add"], false));
    for request in [
        json!({"tool_config": {"function_calling_config": {"mode": "NONE"}}}),
        json!({"toolConfig": {"function_calling_config": {"mode": "none"}}}),
    ] {
        let parsed = RequestFormat::Gemini.parse_tool_config(request.as_object().unwrap(), &names());
        assert_eq!(parsed, Ok(ToolChoice::None.into()));
    }
    for request in [json!({}), json!({"toolConfig": null}), json!({"toolConfig": {}})] {
        assert_eq!(
            RequestFormat::Gemini.parse_tool_config(request.as_object().unwrap(), &names()),
            Ok(ToolConfig::default())
        );
    }
}

#[test]
fn errors_state_the_path() {
    let config = "toolConfig.functionCallingConfig";
    let mode = "`AUTO`, `ANY`, `NONE` or `VALIDATED`";
    for (request, path, expected) in [
        (json!({"toolConfig": "auto"}), "toolConfig".to_owned(), "an object"),
        (json!({"toolConfig": {"functionCallingConfig": []}}), config.to_owned(), "an object"),
        (Value::Object(request(&json!({"mode": "SOME"}))), format!("{config}.mode"), mode),
        (Value::Object(request(&json!({"mode": 1}))), format!("{config}.mode"), mode),
        (
            Value::Object(request(&json!({"allowedFunctionNames": "add"}))),
            format!("{config}.allowedFunctionNames"),
            "a list of names",
        ),
        (
            Value::Object(request(&json!({"allowedFunctionNames": ["add", 1]}))),
            format!("{config}.allowedFunctionNames[1]"),
            "the name of a function",
        ),
    ] {
        let error =
            RequestFormat::Gemini.parse_tool_config(request.as_object().unwrap(), &names()).unwrap_err();
        assert_eq!((error.path(), error.expected()), (path.as_str(), expected));
    }
}
