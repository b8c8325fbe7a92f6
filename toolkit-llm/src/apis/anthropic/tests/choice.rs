//! Tests of the tool choice, and of the limit on parallel calls.

use crate::apis::anthropic::Anthropic;
use crate::apis::anthropic::FACTS;
use crate::tool_config::ChoiceCodec;
use crate::translate::RequestFormat;
use serde_json::{Map, Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

fn encode(wanted: &ToolConfig) -> Value {
    let names = WireNames::new(FACTS.names, ["fs.read", "add"]);
    Anthropic.encode_tool_config(wanted, &names).fields.into()
}

#[track_caller]
fn check(wanted: &ToolConfig, choice: Value) {
    let names = WireNames::new(FACTS.names, ["fs.read", "add"]);
    let request = json!({"tool_choice": choice});
    assert_eq!(encode(wanted), request);
    assert_eq!(
        RequestFormat::Anthropic.parse_tool_config(request.as_object().unwrap(), &names).as_ref(),
        Ok(wanted)
    );
}

#[track_caller]
fn refuse(choice: Value, path: &str, expected: &str) {
    let request = Map::from_iter([("tool_choice".to_owned(), choice)]);
    let error = RequestFormat::Anthropic.parse_tool_config(&request, &WireNames::default()).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected));
}

#[test]
fn tool_choices_round_trip() {
    check(&ToolChoice::Auto.into(), json!({"type": "auto"}));
    check(&ToolChoice::None.into(), json!({"type": "none"}));
    check(&ToolChoice::Required.into(), json!({"type": "any"}));
    check(&ToolChoice::Tool("fs.read".to_owned()).into(), json!({"type": "tool", "name": "fs_read"}));
}

#[test]
fn the_limit_on_parallel_calls_is_in_the_tool_choice() {
    for (parallel, disabled) in [(true, false), (false, true)] {
        check(
            &ToolConfig::default().with_parallel(parallel),
            json!({"type": "auto", "disable_parallel_tool_use": disabled}),
        );
    }
    check(
        &ToolConfig::from(ToolChoice::Tool("add".to_owned())).with_parallel(false),
        json!({"type": "tool", "name": "add", "disable_parallel_tool_use": true}),
    );
    let none = ToolConfig::from(ToolChoice::None).with_parallel(false);
    assert_eq!(encode(&none), json!({"tool_choice": {"type": "none"}}));
}

#[test]
fn a_set_of_allowed_tools_is_approximated_and_reported() {
    for (names, required, choice, is_lost) in [
        (vec!["add", "fs.read"], true, json!({"type": "any"}), true),
        (vec!["add", "fs.read"], false, json!({"type": "auto"}), true),
        (vec!["fs.read"], true, json!({"type": "tool", "name": "fs_read"}), false),
        (vec!["fs.read"], false, json!({"type": "auto"}), true),
        (vec![], false, json!({"type": "none"}), false),
    ] {
        let names = names.into_iter().map(ToOwned::to_owned).collect();
        let allowed = ToolConfig::from(ToolChoice::Allowed { names, required });
        assert_eq!(encode(&allowed), json!({"tool_choice": choice}));
        let losses = Anthropic.encode_tool_config(&allowed, &WireNames::default()).losses;
        assert_eq!(losses.iter().any(|loss| loss.path == "/choice/allowed/names"), is_lost);
    }
}

#[test]
fn a_missing_tool_choice_is_auto() {
    for request in [json!({}), json!({"tool_choice": null})] {
        let parsed =
            RequestFormat::Anthropic.parse_tool_config(request.as_object().unwrap(), &WireNames::default());
        assert_eq!(parsed, Ok(ToolConfig::default()));
    }
}

#[test]
fn errors_state_the_path() {
    let kinds = "`auto`, `any`, `tool` or `none`";
    refuse(json!("auto"), "tool_choice", "an object with a `type`");
    refuse(json!({}), "tool_choice.type", kinds);
    refuse(json!({"type": "required"}), "tool_choice.type", kinds);
    refuse(json!({"type": "tool"}), "tool_choice.name", "the name of a tool");
    refuse(
        json!({"type": "auto", "disable_parallel_tool_use": "no"}),
        "tool_choice.disable_parallel_tool_use",
        "true or false",
    );
}
