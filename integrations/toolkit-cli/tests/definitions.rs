//! `list`, `show` and `check`.

use crate::{transcript, weather};
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn list_shows_the_tools_by_namespace() {
    assert_snapshot!(transcript("list"));
}

#[test]
fn list_fits_into_40_columns() {
    let ran = weather("list").env("COLUMNS", "40").run();
    for line in ran.out.lines().filter(|line| line.starts_with("    ")) {
        assert!(line.chars().count() <= 40, "{line}");
    }
    assert_snapshot!(ran.out);
}

#[test]
fn list_is_json_for_scripts() {
    let listed = weather("list --format json").run().json();
    let first = &listed["tools"][0];
    assert_eq!(first["name"], "alarm");
    assert_eq!(first["hints"], json!({"destructive": true}));
    assert_eq!(first["disabled"], json!(null));
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    let expected =
        ["name", "namespace", "title", "description", "tags", "hints", "deferred", "disabled", "tokens"];
    assert_eq!(keys, expected);
    let tokens = |tool: &serde_json::Value| tool["tokens"].as_u64().unwrap();
    let sum: u64 = listed["tools"].as_array().unwrap().iter().map(tokens).sum();
    assert_eq!(listed["tokens"], sum);
}

#[test]
fn show_has_the_parameters() {
    assert_snapshot!([transcript("show weather-forecast"), transcript("show weather-map")].concat());
}

#[test]
fn show_has_the_json_of_an_api_with_its_losses() {
    let ran = weather("show alarm --api gemini").run();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_snapshot!(format!("{}\n{}", ran.json(), ran.err));
    let shown = weather("show weather-forecast --api anthropic --format json").run().json();
    assert_eq!(shown["api"], "anthropic");
    assert_eq!(shown["definition"][0]["name"], "weather-forecast");
    assert!(shown["report"]["losses"].is_array(), "{shown}");
}

#[test]
fn show_is_json_for_scripts() {
    let shown = weather("show weather-forecast --format json").run().json();
    assert_eq!(shown["parameters"]["required"], json!(["city"]));
    let apis: Vec<&String> = shown["apis"].as_object().unwrap().keys().collect();
    // Features add others.
    assert_eq!(apis[..4], ["openai_chat", "openai_responses", "anthropic", "gemini"]);
}

#[test]
fn unknown_names_have_near_misses() {
    assert_snapshot!(
        ["show weather-forcast", "lst", "list --fromat json", "call alrm"].map(transcript).concat()
    );
    // Features add others.
    let ran = weather("show alarm --api antropic").run();
    let apis = "error: API `antropic` not found; use one of openai_chat, openai_responses, anthropic, gemini";
    assert!(ran.code == 2 && ran.err.starts_with(apis), "{ran:?}");
}

#[test]
fn check_exits_with_1_at_its_level() {
    assert_snapshot!(["check", "check --level note --api gemini"].map(transcript).concat());
    let found = weather("check --format json").run().json();
    let finding = &found["findings"][0];
    let keys: Vec<&String> = finding.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["level", "tool", "message", "apis"]);
}

#[test]
fn help_names_the_commands() {
    assert_snapshot!(
        ["--help", "--version", "call --help", "call weather-forecast --help"].map(transcript).concat()
    );
}
