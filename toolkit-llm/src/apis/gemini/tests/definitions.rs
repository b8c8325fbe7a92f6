//! Tests of encoding and parsing definitions.

use crate::translate::RequestFormat;
use crate::{ApiFormat, DefinitionOptions};
use serde_json::{Value, json};
use std::slice::from_ref;
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::tool::{TextFormat, ToolDefinition, ToolMetadata};

fn encode(definition: &ToolDefinition, json_schema: bool) -> (Value, Vec<String>) {
    let options = DefinitionOptions::default().with_json_schema(json_schema).with_output_schemas(true);
    let tools = ApiFormat::Gemini.encode_definitions([definition], &WireNames::default(), &options);
    let losses = tools.report().losses.iter().map(|loss| loss.loss.path.clone()).collect();
    (tools.to_value()[0]["function_declarations"][0].clone(), losses)
}

fn tool(parameters: Value) -> ToolDefinition {
    ToolDefinition::new(ToolName::new("get_weather").unwrap(), "d", parameters)
}

fn city() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
}

#[track_caller]
fn check(payload: &Value, names: &[&str], hosted: &[Value]) {
    let parsed = RequestFormat::Gemini.parse_definitions(payload).unwrap();
    let parsed: Vec<&str> = parsed.iter().map(|definition| definition.name.as_str()).collect();
    assert_eq!(parsed, names);
    assert_eq!(RequestFormat::Gemini.hosted_tools(payload).unwrap(), hosted);
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    let error = RequestFormat::Gemini.parse_definitions(payload).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected));
}

#[test]
fn all_functions_are_in_one_tool() {
    let tools = [tool(city()), tool(city())];
    let encoded =
        ApiFormat::Gemini.encode_definitions(&tools, &WireNames::default(), &DefinitionOptions::default());
    let declaration = json!({"name": "get_weather", "description": "d", "parameters": city()});
    assert_eq!(encoded.to_value(), json!([{"function_declarations": [declaration, declaration]}]));
    let none = ApiFormat::Gemini.encode_definitions([], &WireNames::default(), &DefinitionOptions::default());
    assert_eq!(none.as_json(), "[]");
}

#[test]
fn each_dialect_has_its_own_schema_field() {
    let definition = tool(city()).with_output_schema(json!({"type": "string"}));
    let (google, losses) = encode(&definition, false);
    assert_eq!(
        google,
        json!({"name": "get_weather", "description": "d", "parameters": city(), "response": {"type": "string"}})
    );
    assert!(losses.is_empty());
    let (json_schema, losses) = encode(&definition, true);
    assert_eq!(
        json_schema,
        json!({
            "name": "get_weather", "description": "d",
            "parametersJsonSchema": city(), "responseJsonSchema": {"type": "string"},
        })
    );
    assert!(losses.is_empty());
    for declaration in [google, json_schema] {
        let parsed = RequestFormat::Gemini
            .parse_definitions(&json!([{"function_declarations": [declaration]}]))
            .unwrap();
        assert_eq!(parsed.as_slice(), from_ref(&definition));
    }
}

#[test]
fn a_function_without_parameters_has_no_schema() {
    for parameters in [
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        json!({"type": "object", "properties": {}, "required": []}),
        json!({"type": "object"}),
        json!({}),
        Value::Null,
    ] {
        for json_schema in [false, true] {
            let (declaration, _) = encode(&tool(parameters.clone()), json_schema);
            assert_eq!(declaration, json!({"name": "get_weather", "description": "d"}));
        }
    }
    assert_eq!(encode(&tool(city()), false).0["parameters"], city());
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    assert_eq!(encode(&tool(map.clone()), true).0["parametersJsonSchema"], map);
}

#[test]
fn settings_without_a_field_are_reported() {
    let mut metadata = ToolMetadata::default()
        .with_input_examples([json!({"city": "Oslo"})])
        .with_allowed_callers(["direct"])
        .with_defer(true);
    metadata.strict = Some(true);
    let (_, losses) = encode(&tool(city()).with_metadata(metadata).with_output_schema(json!({})), false);
    assert_eq!(losses, ["/output_schema", "/output_schema", "/input_examples", "/defer", "/allowed_callers"]);

    let name = ToolName::new("patch").unwrap();
    let custom = ToolDefinition::custom(name, "d", TextFormat::Regex("x+".to_owned()));
    let (declaration, losses) = encode(&custom, false);
    assert_eq!(declaration["parameters"]["properties"], custom.parameters["properties"]);
    assert_eq!(losses, ["/kind"]);
}

#[test]
fn both_spellings_of_fields_are_parsed() {
    let search = json!({"googleSearch": {}});
    let code = json!({"code_execution": {}});
    let functions = json!({"functionDeclarations": [{"name": "a"}, {"name": "b", "parameters": null}]});
    check(&json!([functions]), &["a", "b"], &[]);
    check(
        &json!([functions, search, {"function_declarations": [{"name": "c"}]}]),
        &["a", "b", "c"],
        from_ref(&search),
    );
    check(&json!([{"function_declarations": []}]), &[], &[]);
    check(&json!([{"function_declarations": null, "code_execution": {}}]), &[], from_ref(&code));
    check(&json!([{"of_next_year": {}}]), &[], &[json!({"of_next_year": {}})]);
    check(&json!([{"function_declarations": [{"name": "a"}], "code_execution": {}}]), &["a"], &[code]);
    check(&json!([{"name": "a", "description": "alone"}]), &["a"], &[]);
    check(&json!({"contents": [], "tools": [functions, search]}), &["a", "b"], &[search]);
    check(&json!({"contents": []}), &[], &[]);
    check(&json!({"tools": null}), &[], &[]);
    check(&json!([]), &[], &[]);
}

#[test]
fn schemas_become_json_schema() {
    let parameters = json!({"type": "OBJECT", "properties": {
        "y": {"type": "ARRAY", "items": {"type": "STRING"}, "nullable": true},
    }});
    let response = json!({"type": "OBJECT", "any_of": [{"type": "INTEGER"}]});
    let declaration = json!({"name": "a", "parameters": parameters, "response": response});
    let parsed =
        RequestFormat::Gemini.parse_definitions(&json!([{"functionDeclarations": [declaration]}])).unwrap();
    assert_eq!(
        parsed[0].parameters,
        json!({"type": "object", "properties": {"y": {"type": ["array", "null"], "items": {"type": "string"}}}})
    );
    assert_eq!(parsed[0].output_schema(), Some(&json!({"type": "object", "anyOf": [{"type": "integer"}]})));

    let plain = json!({"$ref": "#/$defs/A", "$defs": {"A": {"const": "STRING"}}});
    let declaration = json!({"name": "a", "parameters_json_schema": plain, "response_json_schema": plain});
    let parsed = RequestFormat::Gemini.parse_definitions(&json!([declaration])).unwrap();
    assert_eq!((&parsed[0].parameters, parsed[0].output_schema()), (&plain, Some(&plain)));
}

#[test]
fn errors_state_the_path() {
    let whole = "a list of tools, or a request with `tools`";
    let foreign = "no such field, which tools of other APIs have";
    let with = |function: Value| json!({"tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "a"}, function]}]});
    refuse(&json!(1), "", whole);
    refuse(&json!({"choices": []}), "", whole);
    refuse(&json!({"tools": "none"}), "tools", "a list of tools");
    refuse(&json!([null]), "[0]", "a tool with `function_declarations`");
    refuse(&json!([{"type": "function", "function": {"name": "a"}}]), "[0].type", foreign);
    refuse(&json!([{"name": "a", "input_schema": {}}]), "[0].input_schema", foreign);
    refuse(&json!([{"function_declarations": {}}]), "[0].function_declarations", "a list of functions");
    let path = "tools[1].functionDeclarations[1]";
    refuse(&with(json!(1)), path, "the name, description and parameters of a function");
    refuse(&with(json!({})), &format!("{path}.name"), "a tool name");
    refuse(&with(json!({"name": "a b"})), &format!("{path}.name"), "a tool name such as `a_b`");
    refuse(
        &with(json!({"name": "a", "parameters": []})),
        &format!("{path}.parameters"),
        "a JSON Schema object",
    );
}
