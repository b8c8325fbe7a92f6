//! Tests of encoding and parsing definitions.

use crate::apis::openai_chat::{FACTS, OpenAiChat};
use crate::codec::DefinitionCodec;
use crate::declaration::Spelling;
use crate::translate::RequestFormat;
use serde_json::{Value, json};
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::tool::{TextFormat, ToolDefinition, ToolMetadata};
use toolkit_schema::SchemaDialect;

fn encode(definition: &ToolDefinition, names: &WireNames) -> Value {
    OpenAiChat
        .encode_definition(
            definition,
            &Spelling {
                names,
                strict: false,
                outputs: true,
                dialect: SchemaDialect::OpenAi,
                parameters: None,
            },
        )
        .json
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
    let parsed = RequestFormat::OpenAiChat.parse_definitions(payload).unwrap();
    let parsed: Vec<&str> = parsed.iter().map(|definition| definition.name.as_str()).collect();
    assert_eq!(parsed, names);
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    let error = RequestFormat::OpenAiChat.parse_definitions(payload).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected));
}

#[test]
fn definitions_round_trip() {
    let parsed = RequestFormat::OpenAiChat.parse_definitions(&json!([weather()])).unwrap();
    let names = WireNames::default();
    let encoded: Vec<Value> = parsed.iter().map(|tool| encode(tool, &names)).collect();
    assert_eq!(encoded, [weather()]);
}

#[test]
fn tools_that_the_service_runs_are_left_out() {
    let search = json!({"type": "web_search", "user_location": {"type": "approximate"}});
    let tools = json!({"tools": [weather(), search, {"type": "custom", "custom": {"name": "x"}}]});
    assert_eq!(RequestFormat::OpenAiChat.hosted_tools(&tools).unwrap(), std::slice::from_ref(&search));
    assert!(RequestFormat::OpenAiChat.hosted_tools(&json!({"messages": []})).unwrap().is_empty());
    assert_eq!(RequestFormat::OpenAiChat.hosted_tools(&json!({"tools": 1})).unwrap_err().path(), "tools");
}

/// Checks that `definition` is encoded as `wire`, and that `wire` is parsed as `definition`.
#[track_caller]
fn both_ways(definition: &ToolDefinition, strict: bool, wire: &Value) {
    let names = WireNames::default();
    let how =
        Spelling { names: &names, strict, outputs: true, dialect: SchemaDialect::OpenAi, parameters: None };
    let encoded = OpenAiChat.encode_definition(definition, &how);
    assert_eq!((&encoded.json, encoded.losses.as_slice()), (wire, &[][..]));
    assert_eq!(
        RequestFormat::OpenAiChat.parse_definitions(&json!([wire])).unwrap(),
        std::slice::from_ref(definition)
    );
}

#[test]
fn strictness_round_trips() {
    let mut wire = weather();
    wire["function"]["strict"] = json!(true);
    let strict = RequestFormat::OpenAiChat.parse_definitions(&json!([wire])).unwrap().remove(0);
    assert_eq!(strict.metadata.strict, Some(true));
    both_ways(&strict, true, &wire);
    wire["function"]["strict"] = json!(false);
    let lax = RequestFormat::OpenAiChat.parse_definitions(&json!([wire])).unwrap().remove(0);
    both_ways(&lax, false, &wire);
    wire["function"]["strict"] = Value::Null;
    assert_eq!(RequestFormat::OpenAiChat.parse_definitions(&json!([wire])).unwrap()[0].metadata.strict, None);
}

#[test]
fn custom_tools_round_trip() {
    let grammar = |syntax: &str| json!({"type": "grammar", "grammar": {"syntax": syntax, "definition": "x"}});
    for (format, wire) in [
        (TextFormat::Text, None),
        (TextFormat::Lark("x".to_owned()), Some(grammar("lark"))),
        (TextFormat::Regex("x".to_owned()), Some(grammar("regex"))),
    ] {
        let patch = ToolDefinition::custom(ToolName::new("apply_patch").unwrap(), "Patches.", format);
        let mut custom =
            json!({"type": "custom", "custom": {"name": "apply_patch", "description": "Patches."}});
        if let Some(wire) = wire {
            custom["custom"]["format"] = wire;
        }
        both_ways(&patch, false, &custom);
    }
}

#[test]
fn settings_without_a_field_are_reported() {
    let metadata = ToolMetadata::default()
        .with_input_examples([json!({"city": "Paris"})])
        .with_allowed_callers(["direct"])
        .with_defer(true);
    let definition = RequestFormat::OpenAiChat.parse_definitions(&json!([weather()])).unwrap().remove(0);
    let definition = definition.with_metadata(metadata).with_output_schema(json!({"type": "string"}));
    let names = WireNames::default();
    let how = Spelling {
        names: &names,
        strict: false,
        outputs: true,
        dialect: SchemaDialect::OpenAi,
        parameters: None,
    };
    let encoded = OpenAiChat.encode_definition(&definition, &how);
    assert_eq!(encoded.json, weather());
    let paths: Vec<&str> = encoded.losses.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(paths, ["/output_schema", "/input_examples", "/allowed_callers", "/defer"]);
}

#[test]
fn names_with_dots_are_respelled() {
    let name = ToolName::new("fs.read").unwrap();
    let names = WireNames::new(FACTS.names, [name.as_str()]);
    let encoded = encode(&ToolDefinition::new(name, "", json!({})), &names);
    assert_eq!(encoded["function"]["name"], "fs_read");
}

#[test]
fn a_list_and_a_request_are_parsed() {
    let custom = json!({"type": "custom", "custom": {"name": "apply_patch"}});
    check(
        &json!([weather(), custom, {"type": "web_search"}, weather()]),
        &["get_weather", "apply_patch", "get_weather"],
    );
    check(&json!({"model": "gpt-4o", "messages": [], "tools": [weather()]}), &["get_weather"]);
    check(&json!({"messages": []}), &[]);
    check(&json!({"tools": null}), &[]);
    check(&json!([]), &[]);
    check(&json!([{"function": {"name": "untyped"}}]), &["untyped"]);
}

#[test]
fn a_missing_schema_means_no_parameters() {
    for function in [json!({"name": "now"}), json!({"name": "now", "parameters": null})] {
        let parsed = RequestFormat::OpenAiChat
            .parse_definitions(&json!([{"type": "function", "function": function}]))
            .unwrap();
        assert_eq!(parsed[0].parameters, json!({"type": "object", "properties": {}}));
        assert_eq!(parsed[0].description, "");
    }
}

#[test]
fn errors_state_the_path() {
    let whole = "a list of tools, or a request with `tools`";
    let function = "the name, description and parameters of a function";
    let with = |function: Value| json!({"tools": [weather(), {"type": "function", "function": function}]});
    refuse(&json!(1), "", whole);
    refuse(&json!({"choices": []}), "", whole);
    refuse(&json!({"tools": "none"}), "tools", "a list of tools");
    refuse(&json!([null]), "[0].function", function);
    refuse(&json!([{"type": "function", "name": "flat"}]), "[0].function", function);
    refuse(
        &json!([{"type": "custom", "name": "flat"}]),
        "[0].custom",
        "the name, description and format of a custom tool",
    );
    refuse(
        &json!([{"type": "custom", "custom": {"name": "x", "format": {"type": "yaml"}}}]),
        "[0].custom.format",
        "`text`, or a grammar with `syntax` (`lark` or `regex`) and `definition`",
    );
    refuse(&with(json!({"name": "a", "strict": 1})), "tools[1].function.strict", "true or false");
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
