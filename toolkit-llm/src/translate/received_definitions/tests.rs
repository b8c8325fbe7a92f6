//! Tests of fields that exist in only one API, with random and with fixed fields.

use crate::definitions::{DefinitionOptions, Definitions, StrictTools};
use crate::facts::ApiFormat;
use crate::translate::RequestFormat;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::WireNames;

/// Returns definitions without unknown fields.
fn tools(format: RequestFormat) -> Vec<Value> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let function = json!({"name": "now", "description": "The time.", "parameters": schema});
    let grammar = json!({"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/"}});
    match format {
        RequestFormat::OpenAiChat => vec![
            json!({"type": "function", "function": function}),
            json!({"type": "custom", "custom": {"name": "p", "description": "Patches.", "format": grammar}}),
        ],
        RequestFormat::OpenAiResponses => vec![
            json!({"type": "function", "name": "now", "description": "The time.", "parameters": schema,
                "strict": false}),
            json!({"type": "custom", "name": "p", "description": "Patches.",
                "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}}),
            json!({"type": "namespace", "name": "crm", "description": "Customers.", "tools": [
                {"type": "function", "name": "now", "description": "The time.", "parameters": schema,
                    "strict": false}]}),
        ],
        RequestFormat::Anthropic => {
            vec![json!({"name": "now", "description": "The time.", "input_schema": schema})]
        }
        RequestFormat::Gemini => vec![json!({"name": "now", "description": "The time.", "parameters":
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}})],
    }
}

/// Returns tool configs without unknown fields.
fn configs(format: RequestFormat) -> Vec<Value> {
    match format {
        RequestFormat::OpenAiChat => vec![
            json!({"tool_choice": {"type": "function", "function": {"name": "now"}}}),
            json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
                {"type": "function", "function": {"name": "now"}}]}}, "parallel_tool_calls": false}),
        ],
        RequestFormat::OpenAiResponses => vec![json!({"tool_choice": {"type": "function", "name": "now"}})],
        RequestFormat::Anthropic => vec![
            json!({"tool_choice": {"type": "tool", "name": "now"}}),
            json!({"tool_choice": {"type": "auto", "disable_parallel_tool_use": true}}),
        ],
        RequestFormat::Gemini => vec![
            json!({"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}),
            json!({"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["now"]}}}),
        ],
    }
}

/// Collects the JSON pointers to objects, except for schemas and lists of tools.
fn objects(value: &Value, path: &str, found: &mut Vec<String>) {
    let Some(fields) = value.as_object() else { return };
    found.push(path.to_owned());
    for (name, inner) in fields {
        if !["parameters", "input_schema", "inputSchema"].contains(&name.as_str()) {
            objects(inner, &format!("{path}/{name}"), found);
        }
    }
}

/// Generates an unknown field with its object and value.
fn unknown() -> impl Strategy<Value = (prop::sample::Index, String, Value)> {
    let value = prop_oneof![
        Just(json!({"type": "ephemeral", "ttl": "1h"})),
        Just(json!([1, {"a": null}])),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z]{0,6}".prop_map(Value::from),
    ];
    (any::<prop::sample::Index>(), "x_[a-z/~]{1,8}", value)
}

/// Adds the unknown fields after the others. Returns their names.
fn grown(json: &mut Value, unknown: Vec<(prop::sample::Index, String, Value)>) -> Vec<String> {
    let mut places = Vec::new();
    objects(json, "", &mut places);
    let mut names = Vec::new();
    for (place, name, value) in unknown {
        let Some(Value::Object(fields)) = json.pointer_mut(&places[place.index(places.len())]) else {
            continue;
        };
        if fields.contains_key("tools") {
            continue;
        }
        fields.insert(name.clone(), value);
        names.push(name);
    }
    names
}

fn encode(format: ApiFormat, tool: &ToolDefinition) -> Definitions {
    let names = WireNames::default();
    format.encode_definitions(
        [tool],
        &names,
        &DefinitionOptions::default().with_strict(StrictTools::default()),
    )
}

fn keyword(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

proptest! {
    #[test]
    fn unknown_fields_of_definitions_are_kept_or_reported(
        added in prop::collection::vec(unknown(), 0..5),
        which in any::<prop::sample::Index>(),
    ) {
        for &reader in RequestFormat::ALL {
            let format = reader.api();
            let tools = tools(reader);
            let mut tool = tools[which.index(tools.len())].clone();
            let names = grown(&mut tool, added.clone());
            let parsed = reader.parse_definitions(&json!([tool])).unwrap();
            let [definition] = parsed.as_slice() else { panic!("one definition") };
            let encoded = encode(format, definition);
            let expected = match format {
                ApiFormat::Gemini => json!([{"function_declarations": [tool]}]),
                _ => json!([tool]),
            };
            prop_assert_eq!(encoded.as_json(), expected.to_string());
            prop_assert!(encoded.report().is_clean(), "{}", encoded.report());
            for other in ApiFormat::ALL.iter().copied().filter(|other| *other != format) {
                let encoded = encode(other, definition);
                let losses = &encoded.report().losses;
                for name in &names {
                    let is_named = losses.iter().any(|loss| loss.loss.path.ends_with(&format!("/{}", keyword(name))));
                    prop_assert!(is_named, "{format} to {other}: {name} in {}", encoded.report());
                }
                prop_assert!(!encoded.as_json().contains("x_"));
            }
        }
    }

    #[test]
    fn unknown_fields_of_tool_configs_are_kept_or_reported(
        added in prop::collection::vec(unknown(), 1..5),
        which in any::<prop::sample::Index>(),
    ) {
        let names = WireNames::default();
        for &reader in RequestFormat::ALL {
            let format = reader.api();
            let configs = configs(reader);
            let mut request = configs[which.index(configs.len())].clone();
            let (name, inner) = request.as_object_mut().unwrap().iter_mut().next().unwrap();
            let name = name.clone();
            let unknown = grown(inner, added.clone());
            let received: &Map<String, Value> = request.as_object().unwrap();
            let config = reader.parse_tool_config(received, &names).unwrap();
            let encoded = format.encode_tool_config(&config, &names);
            prop_assert_eq!(Value::Object(encoded.fields).to_string(), request.to_string());
            for other in ApiFormat::ALL.iter().copied().filter(|other| *other != format) {
                let encoded = other.encode_tool_config(&config, &names);
                for field in &unknown {
                    let is_named = encoded.losses.iter().any(|loss| loss.path.ends_with(&format!("/{}", keyword(field))));
                    prop_assert!(is_named, "{format}.{name} to {other}: {field} in {:?}", encoded.losses);
                }
                prop_assert!(!Value::Object(encoded.fields).to_string().contains("x_"));
            }
        }
    }
}

/// Checks that a definition is written back unchanged, and that the `lost` fields are reported for another
/// API.
#[track_caller]
fn check(reader: RequestFormat, tool: Value, lost: &[&str]) {
    let format = reader.api();
    let parsed = reader.parse_definitions(&json!([tool])).unwrap();
    let encoded = encode(format, &parsed[0]);
    let expected = match format {
        ApiFormat::Gemini => json!([{"function_declarations": [tool]}]),
        _ => json!([tool]),
    };
    assert_eq!(encoded.to_value(), expected);
    let losses = &encode(ApiFormat::Ollama, &parsed[0]).report().losses.clone();
    let keywords: Vec<&str> = losses.iter().map(|loss| loss.loss.keyword.as_str()).collect();
    assert_eq!(keywords, lost);
}

#[test]
fn fields_of_the_providers_come_back_unchanged() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let cache = json!({"type": "ephemeral"});
    let chat = |function: Value| json!({"type": "function", "function": function});
    check(
        RequestFormat::OpenAiChat,
        json!({"type": "function", "function": {"name": "a", "description": "b", "parameters": schema,
            "eager_input_streaming": true}, "cache_control": cache}),
        &["eager_input_streaming", "cache_control"],
    );
    check(RequestFormat::OpenAiChat, chat(json!({"name": "a"})), &[]);
    check(
        RequestFormat::OpenAiChat,
        chat(json!({"name": "a", "description": null, "strict": null, "parameters": null})),
        &[],
    );
    check(
        RequestFormat::OpenAiChat,
        json!({"type": "custom", "custom": {"name": "a", "format": {"type": "text"}}}),
        &["kind"],
    );
    let responses = |more: Value| {
        let mut tool = json!({"type": "function", "name": "a", "description": "b", "parameters": schema});
        tool.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        tool
    };
    check(RequestFormat::OpenAiResponses, responses(json!({})), &[]);
    check(RequestFormat::OpenAiResponses, responses(json!({"strict": null})), &[]);
    check(
        RequestFormat::OpenAiResponses,
        responses(json!({"strict": null, "async": true, "defer_loading": false})),
        &["async"],
    );
    let namespace = json!({"type": "namespace", "name": "crm", "description": "Customers.", "tools": [
        responses(json!({})), responses(json!({"name": "c", "defer_loading": true}))]});
    let parsed = RequestFormat::OpenAiResponses.parse_definitions(&json!([namespace])).unwrap();
    let options = DefinitionOptions::default();
    let written = ApiFormat::OpenAiResponses.encode_definitions(&parsed, &WireNames::default(), &options);
    assert_eq!(written.to_value(), json!([namespace]));
    assert!(written.report().is_clean(), "{}", written.report());
    let described = encode(ApiFormat::Anthropic, &parsed[0]);
    assert!(described.report().losses.iter().any(|loss| loss.loss.keyword == "description"));
    check(
        RequestFormat::Anthropic,
        json!({"type": "custom", "name": "a", "description": "b", "input_schema": schema, "strict": false,
            "cache_control": cache, "eager_input_streaming": true, "allowed_callers": []}),
        &["cache_control", "eager_input_streaming"],
    );
    check(
        RequestFormat::Gemini,
        json!({"name": "a", "description": "b", "behavior": "NON_BLOCKING"}),
        &["behavior"],
    );
}

#[test]
fn kept_fields_yield_to_what_the_program_sets() {
    let tool = json!({"type": "function", "name": "a", "parameters": {"type": "object", "properties": {},
        "additionalProperties": false}, "strict": null});
    let mut parsed = RequestFormat::OpenAiResponses.parse_definitions(&json!([tool])).unwrap();
    parsed[0].description = "Does it.".to_owned();
    parsed[0].metadata.strict = Some(true);
    let written = encode(ApiFormat::OpenAiResponses, &parsed[0]).to_value();
    assert_eq!((&written[0]["description"], &written[0]["strict"]), (&json!("Does it."), &json!(true)));
}

#[test]
fn settings_of_gemini_come_back_unchanged() {
    let names = WireNames::default();
    let place = json!({"latLng": {"latitude": 1.5, "longitude": 2.5}, "languageCode": "de"});
    for (config, lost) in [
        (json!({"toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}}), &["mode"][..]),
        (
            json!({"toolConfig": {"functionCallingConfig": {"mode": "ANY", "streamFunctionCallArguments": true},
                "retrievalConfig": place}}),
            &["streamFunctionCallArguments", "retrievalConfig"],
        ),
        (json!({"tool_config": {"retrieval_config": place}}), &["retrieval_config"]),
    ] {
        let received = config.as_object().unwrap();
        let parsed = RequestFormat::Gemini.parse_tool_config(received, &names).unwrap();
        assert_eq!(ApiFormat::Gemini.encode_tool_config(&parsed, &names).fields, *received);
        let other = ApiFormat::Anthropic.encode_tool_config(&parsed, &names);
        let keywords: Vec<&str> = other.losses.iter().map(|loss| loss.keyword.as_str()).collect();
        assert_eq!(keywords, lost);
    }
}

#[test]
fn hosted_tools_inside_a_namespace_are_read_and_written() {
    let own = json!({
        "type": "function", "name": "a", "description": "b", "parameters": {"type": "object", "properties": {}}, "strict": false,
    });
    let mcp = json!({"type": "mcp", "server_label": "docs", "server_url": "https://a.example"});
    let namespace =
        json!({"type": "namespace", "name": "crm", "description": "Customers.", "tools": [own, mcp]});
    let format = ApiFormat::OpenAiResponses;
    let hosted = RequestFormat::OpenAiResponses.hosted_tools(&json!([namespace])).unwrap();
    assert_eq!(hosted[0]["tools"], json!([mcp]));
    let hosted: Vec<_> =
        hosted.into_iter().map(|tool| crate::hosted::HostedTool::new(format, tool)).collect();
    let parsed = RequestFormat::OpenAiResponses.parse_definitions(&json!([namespace])).unwrap();
    let written = format.encode_definitions(&parsed, &WireNames::default(), &DefinitionOptions::default());
    assert_eq!(written.with_hosted(&hosted).to_value(), json!([namespace]));
}
