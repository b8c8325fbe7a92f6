//! Tests of the definitions in a request.

use crate::apis::anthropic::Anthropic;
use crate::apis::anthropic::FACTS;
use crate::codec::DefinitionCodec;
use crate::declaration::{EncodedDefinition, Spelling};
use crate::translate::RequestFormat;
use serde_json::Value;
use serde_json::json;
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::tool::{TextFormat, ToolDefinition, ToolMetadata};
use toolkit_schema::SchemaDialect;

fn encode(definition: &ToolDefinition, names: &WireNames, strict: bool) -> EncodedDefinition {
    Anthropic.encode_definition(
        definition,
        &Spelling { names, strict, outputs: true, dialect: SchemaDialect::Anthropic, parameters: None },
    )
}

fn weather() -> Value {
    json!({
        "name": "get_weather",
        "description": "",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    })
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition::new(ToolName::new(name).unwrap(), "", json!({"type": "object"}))
}

#[track_caller]
fn check(payload: &Value, names: &[&str], hosted: &[Value]) {
    let parsed = RequestFormat::Anthropic.parse_definitions(payload).unwrap();
    let parsed: Vec<&str> = parsed.iter().map(|definition| definition.name.as_str()).collect();
    assert_eq!(parsed, names);
    assert_eq!(RequestFormat::Anthropic.hosted_tools(payload).unwrap(), hosted);
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    let error = RequestFormat::Anthropic.parse_definitions(payload).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected));
}

#[test]
fn definitions_round_trip() {
    let mut full = weather();
    full["strict"] = true.into();
    full["defer_loading"] = true.into();
    full["input_examples"] = json!([{"city": "Oslo"}]);
    full["allowed_callers"] = json!(["direct", "code_execution_20250825"]);
    full["cache_control"] = json!({"type": "ephemeral"});
    full["eager_input_streaming"] = true.into();
    for tool in [weather(), full] {
        let parsed = RequestFormat::Anthropic.parse_definitions(&json!([tool])).unwrap();
        let strict = parsed[0].metadata.strict == Some(true);
        let encoded = encode(&parsed[0], &WireNames::default(), strict);
        assert_eq!(encoded.json, tool);
        assert!(encoded.losses.is_empty());
    }
}

#[test]
fn names_with_dots_are_respelled() {
    let definition = tool("fs.read");
    let names = WireNames::new(FACTS.names, [definition.name.as_str()]);
    assert_eq!(encode(&definition, &names, false).json["name"], "fs_read");
}

#[test]
fn only_strict_tools_have_the_field_strict() {
    let definition = tool("now").with_metadata(ToolMetadata::default().with_strict(true));
    assert_eq!(encode(&definition, &WireNames::default(), false).json.get("strict"), None);
}

#[test]
fn settings_without_a_field_are_reported() {
    let metadata = ToolMetadata::default()
        .with_input_examples([json!({"input": "x"}), json!("x")])
        .with_allowed_callers(["programmatic", "direct"]);
    let name = ToolName::new("patch").unwrap();
    let definition = ToolDefinition::custom(name, "", TextFormat::Lark("start: x".to_owned()))
        .with_output_schema(json!({"type": "string"}))
        .with_metadata(metadata);
    let encoded = encode(&definition, &WireNames::default(), false);
    let paths: Vec<&str> = encoded.losses.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(paths, ["/input_examples/1", "/allowed_callers/0", "/output_schema", "/kind"]);
    assert_eq!(encoded.json["input_examples"], json!([{"input": "x"}]));
    assert_eq!(encoded.json["allowed_callers"], json!(["direct"]));
    assert_eq!(encoded.json["input_schema"], definition.parameters);
}

#[test]
fn stored_fields_do_not_overwrite_fields_of_the_definition() {
    let meta = json!({"name": "x", "strict": true, "cache_control": {"type": "ephemeral"}});
    let definition = tool("now").with_metadata(ToolMetadata::default().with_meta(FACTS.name, meta));
    assert_eq!(
        encode(&definition, &WireNames::default(), false).json,
        json!({"name": "now", "description": "", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}})
    );
}

#[test]
fn a_list_and_a_request_are_parsed() {
    let search = json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 3});
    let bash = json!({"type": "bash_20250124", "name": "bash"});
    let servers = json!({"type": "mcp_toolset", "mcp_server_name": "x"});
    let mut custom = weather();
    custom["type"] = "custom".into();
    check(
        &json!([custom, search, bash, weather(), servers]),
        &["get_weather", "get_weather"],
        &[search, bash, servers],
    );
    check(&json!({"model": "m", "messages": [], "tools": [weather()]}), &["get_weather"], &[]);
    check(&json!({"messages": []}), &[], &[]);
    check(&json!({"tools": null}), &[], &[]);
    check(&json!([]), &[], &[]);
    check(&json!([{"name": "untyped", "type": null}]), &["untyped"], &[]);
}

#[test]
fn a_missing_schema_means_no_parameters() {
    for tool in [json!({"name": "now"}), json!({"name": "now", "input_schema": null, "strict": null})] {
        let parsed = RequestFormat::Anthropic.parse_definitions(&json!([tool])).unwrap();
        assert_eq!(parsed[0].parameters, json!({"type": "object", "properties": {}}));
        assert_eq!((parsed[0].description.as_str(), parsed[0].metadata.strict), ("", None));
    }
}

#[test]
fn errors_state_the_path() {
    let whole = "a list of tools, or a request with `tools`";
    let with = |tool: Value| json!({"tools": [weather(), tool]});
    refuse(&json!(1), "", whole);
    refuse(&json!({"content": []}), "", whole);
    refuse(&json!({"tools": "none"}), "tools", "a list of tools");
    refuse(&json!([null]), "[0]", "the name, description and schema of a tool");
    refuse(&with(json!({})), "tools[1].name", "a tool name");
    refuse(&json!([{"function_declarations": []}]), "[0].name", "a tool name");
    let function = "no such type, which tools of other APIs have";
    refuse(&with(json!({"type": "function", "name": "a"})), "tools[1].type", function);
    refuse(&with(json!({"type": 1, "name": "a"})), "tools[1].type", "a text");
    for (name, value, expected) in [
        ("input_schema", json!([]), "a JSON Schema object"),
        ("strict", json!(1), "true or false"),
        ("defer_loading", json!("yes"), "true or false"),
        ("input_examples", json!({}), "a list"),
    ] {
        let mut tool = weather();
        tool[name] = value;
        refuse(&with(tool), &format!("tools[1].{name}"), expected);
    }
    let mut tool = weather();
    tool["allowed_callers"] = json!(["direct", 1]);
    refuse(&json!([tool]), "[0].allowed_callers[1]", "the name of a caller");
}
