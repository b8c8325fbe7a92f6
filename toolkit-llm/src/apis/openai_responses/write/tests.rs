//! Tests of encoding and parsing definitions.

use super::*;
use crate::declaration::{EncodedDefinition, Spelling};
use crate::translate::RequestFormat;
use serde_json::json;
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::tool::{TextFormat, ToolMetadata};
use toolkit_schema::SchemaDialect;

fn encode(definition: &ToolDefinition, strict: bool) -> EncodedDefinition {
    let names = WireNames::new(FACTS.names, [definition.name.as_str()]);
    OpenAiResponses.encode_definition(
        definition,
        &Spelling { names: &names, strict, outputs: true, dialect: SchemaDialect::OpenAi, parameters: None },
    )
}

fn named(name: &str) -> ToolDefinition {
    ToolDefinition::new(ToolName::new(name).unwrap(), "d", json!({"type": "object", "properties": {}}))
}

fn weather() -> Value {
    json!({
        "type": "function",
        "name": "get_weather",
        "description": "",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "strict": false,
    })
}

/// Checks that the tool is parsed, and that it is written again without a change or loss.
#[track_caller]
fn check(tool: &Value) {
    let parsed = RequestFormat::OpenAiResponses.parse_definitions(&json!([tool])).unwrap();
    let strict = tool["strict"] == true;
    let encoded: Vec<EncodedDefinition> =
        parsed.iter().map(|definition| encode(definition, strict)).collect();
    assert_eq!(encoded[0].json, *tool);
    assert!(encoded[0].losses.is_empty());
}

#[track_caller]
fn check_names(payload: &Value, names: &[&str], hosted: &[&str]) {
    let parsed = RequestFormat::OpenAiResponses.parse_definitions(payload).unwrap();
    let parsed: Vec<&str> = parsed.iter().map(|definition| definition.name.as_str()).collect();
    assert_eq!(parsed, names);
    let kinds: Vec<Value> = RequestFormat::OpenAiResponses
        .hosted_tools(payload)
        .unwrap()
        .iter()
        .map(|tool| tool["type"].clone())
        .collect();
    assert_eq!(kinds, hosted);
}

#[track_caller]
fn check_losses(definition: &ToolDefinition, paths: &[&str]) {
    let losses = encode(definition, false).losses;
    assert_eq!(losses.iter().map(|loss| loss.path.as_str()).collect::<Vec<_>>(), paths);
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    let error = RequestFormat::OpenAiResponses.parse_definitions(payload).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected));
}

#[test]
fn definitions_round_trip() {
    check(&weather());
    check(&json!({
        "type": "function", "name": "now", "description": "d", "strict": true,
        "parameters": {"type": "object", "properties": {}}, "defer_loading": true, "output_schema": {"type": "object"}, "allowed_callers": ["direct", "programmatic"],
    }));
    let custom = |format: Value| json!({"type": "custom", "name": "p", "description": "d", "format": format});
    check(&custom(json!({"type": "grammar", "syntax": "lark", "definition": "start: x"})));
    check(&custom(json!({"type": "grammar", "syntax": "regex", "definition": "x+"})));
    check(&json!({"type": "custom", "name": "p", "description": "d", "defer_loading": true}));
}

#[test]
fn names_with_dots_are_respelled() {
    assert_eq!(encode(&named("fs.read"), false).json["name"], "fs_read");
}

#[test]
fn the_nested_form_of_chat_completions_is_parsed() {
    let nested = json!([
        {"type": "function", "function": {"name": "now", "description": "d", "strict": true}},
        {"function": {"name": "untyped"}},
        {"type": "custom", "custom": {"name": "p", "format":
            {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: x"}}}},
        {"type": "custom", "custom": {"name": "q", "format": {"type": "text"}}},
    ]);
    check_names(&nested, &["now", "untyped", "p", "q"], &[]);
    let parsed = RequestFormat::OpenAiResponses.parse_definitions(&nested).unwrap();
    assert_eq!((parsed[0].description.as_str(), parsed[0].metadata.strict), ("d", Some(true)));
    assert_eq!(parsed[2].kind, ToolKind::Custom(TextFormat::Lark("start: x".to_owned())));
    assert_eq!(parsed[3].kind, ToolKind::Custom(TextFormat::Text));
    assert_eq!(parsed[3].parameters["required"], json!(["input"]));
}

#[test]
fn tools_of_a_namespace_keep_its_name() {
    let payload = json!([
        {"type": "namespace", "name": "crm", "description": "", "tools": [weather(), {"type": "custom", "name": "p"}]},
        {"type": "namespace", "name": "empty", "tools": []},
    ]);
    check_names(&payload, &["get_weather", "p"], &[]);
    let parsed = RequestFormat::OpenAiResponses.parse_definitions(&payload).unwrap();
    assert!(parsed.iter().all(|definition| definition.metadata.meta["namespace"] == "crm"));
}

#[test]
fn a_list_and_a_request_are_parsed() {
    let search = json!({"type": "web_search", "search_context_size": "low"});
    let mcp = json!({"type": "mcp", "server_label": "s", "server_url": "https://x.org"});
    check_names(
        &json!([weather(), search, mcp, weather()]),
        &["get_weather", "get_weather"],
        &["web_search", "mcp"],
    );
    check_names(&json!({"model": "m", "input": "hi", "tools": [weather(), mcp]}), &["get_weather"], &["mcp"]);
    check_names(&json!({"input": []}), &[], &[]);
    check_names(&json!({"tools": null}), &[], &[]);
    check_names(&json!([]), &[], &[]);
    check_names(&json!([{"name": "untyped"}]), &["untyped"], &[]);
    assert_eq!(RequestFormat::OpenAiResponses.hosted_tools(&json!([search, weather()])).unwrap(), [search]);
}

#[test]
fn missing_fields_have_defaults() {
    for tool in [
        json!({"type": "function", "name": "now"}),
        json!({"type": "function", "name": "now", "parameters": null, "strict": null, "allowed_callers": null}),
    ] {
        let parsed = RequestFormat::OpenAiResponses.parse_definitions(&json!([tool])).unwrap().remove(0);
        assert_eq!(parsed.parameters, json!({"type": "object", "properties": {}}));
        assert_eq!(
            (parsed.metadata.strict, parsed.metadata.defer, parsed.output_schema()),
            (None, false, None)
        );
    }
}

#[test]
fn settings_without_a_field_are_reported() {
    let mut definition = named("f");
    definition.metadata.input_examples = vec![json!({})];
    check_losses(&definition, &["/input_examples"]);
    check_losses(&named("f").with_output_schema(json!({"type": "object"})), &[]);
    let metadata = ToolMetadata::default().with_allowed_callers(["direct", "code_execution_20260120"]);
    let definition = named("f").with_metadata(metadata);
    check_losses(&definition, &["/allowed_callers"]);
    assert_eq!(encode(&definition, false).json["allowed_callers"], json!(["direct"]));
    let custom = ToolDefinition::custom(ToolName::new("p").unwrap(), "", TextFormat::Text);
    check_losses(&custom, &[]);
    check_losses(&custom.with_output_schema(json!({"type": "object"})), &["/output_schema"]);
}

#[test]
fn output_schemas_are_sent_for_json_outputs() {
    for (schema, is_said) in [
        (json!({"type": "array", "items": {"type": "string"}}), true),
        (json!({"type": "string", "enum": ["a", "b"]}), true),
        (json!({"type": "string", "description": "a greeting"}), false),
        (json!(true), false),
    ] {
        let definition = named("f").with_output_schema(schema.clone());
        assert_eq!(encode(&definition, false).json.get("output_schema").is_some(), is_said);
        check_losses(&definition, if is_said { &[] } else { &["/output_schema"] });
    }
}

#[test]
fn errors_state_the_path() {
    let with = |tool: Value| json!({"tools": [weather(), tool]});
    refuse(&json!(1), "", "a list of tools, or a request with `tools`");
    refuse(&json!({"output": []}), "", "a list of tools, or a request with `tools`");
    refuse(&json!([null]), "[0]", "a tool");
    refuse(&with(json!({"type": "function"})), "tools[1].name", "a tool name");
    refuse(&with(json!({"type": "function", "function": {}})), "tools[1].function.name", "a tool name");
    refuse(&with(json!({"name": "a", "strict": 1})), "tools[1].strict", "true or false");
    refuse(
        &with(json!({"name": "a", "allowed_callers": [1]})),
        "tools[1].allowed_callers",
        "a list of texts",
    );
    refuse(
        &with(json!({"name": "a", "output_schema": []})),
        "tools[1].output_schema",
        "a JSON Schema object",
    );
    let format = "a `text` or a `grammar` of `lark` or `regex`";
    refuse(&json!([{"type": "custom", "name": "p", "format": {"type": "grammar"}}]), "[0].format", format);
    let namespace = |tools: Value| with(json!({"type": "namespace", "name": "n", "tools": tools}));
    refuse(&namespace(json!(1)), "tools[1].tools", "a list of tools");
    refuse(&namespace(json!([weather(), 1])), "tools[1].tools[1]", "a tool");
    refuse(&namespace(json!([{"type": "function"}])), "tools[1].tools[0].name", "a tool name");
}
