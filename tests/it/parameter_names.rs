//! Names of parameters that a provider refuses: it gets other spellings, and the tool its own names.

use proptest::prelude::*;
use toolkit_ai::llm::DefinitionOptions;
use toolkit_ai::name::NameRule;
use toolkit_ai::prelude::*;
use toolkit_ai::schema::keyword::each_subschema;
use toolkit_ai::serde_json::{Map, Value, from_str, json};
use toolkit_ai::{AdaptedTool, ArgumentTransform, ToolDefinition, ToolFuture, ToolName, ToolOutput};

/// A tool that returns its arguments.
struct Echo(ToolDefinition);

impl Echo {
    fn new(parameters: Value) -> Self {
        Self(ToolDefinition::new(ToolName::new("echo").expect("a legal name"), "", parameters))
    }
}

impl Tool for Echo {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text(arguments)))
    }
}

/// Parameters' names of MCP servers in the wild.
const WILD: [&str; 12] = [
    "filter[name]",
    "filter_name_",
    "$select",
    "@type",
    "a.b",
    "a-b",
    "3d",
    "_",
    "",
    "名",
    "Account Number",
    "plain",
];

/// Returns an API's rule for names of parameters, and the pointer to the first tool's schema.
fn api(format: ApiFormat) -> (Option<NameRule>, &'static str) {
    match format {
        ApiFormat::Anthropic => (Some(NameRule::SHORT_DOTS), "/0/input_schema"),
        ApiFormat::Bedrock => (Some(NameRule::SHORT_DOTS), "/0/toolSpec/inputSchema/json"),
        ApiFormat::Gemini => (Some(NameRule::IDENTIFIERS), "/0/function_declarations/0/parameters"),
        ApiFormat::GeminiInteractions => (Some(NameRule::IDENTIFIERS), "/0/parameters"),
        ApiFormat::OpenAiResponses => (None, "/0/parameters"),
        _ => (None, "/0/function/parameters"),
    }
}

fn target<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    schema["$ref"]
        .as_str()
        .map_or(schema, |reference| root.pointer(&reference[1..]).expect("it has a target"))
}

/// Returns a value for the tool's schema, and the same under the model's names.
fn values([own_root, sent_root]: [&Value; 2], [own, sent]: [&Value; 2]) -> [Value; 2] {
    let own = target(own_root, own);
    let sent = target(sent_root, sent.pointer("/anyOf/0").unwrap_or(sent));
    let inside = |own, sent| values([own_root, sent_root], [own, sent]);
    if let Some(first) = own.pointer("/anyOf/0") {
        return inside(first, sent);
    }
    if let Some(items) = own.get("items") {
        return inside(items, &sent["items"]).map(|item| json!([item]));
    }
    if own.get("additionalProperties").is_some() {
        // A map's members stay, even if they look like spellings.
        return [json!({"_in": "x", "a_b": "x"}), json!({"_in": "x", "a_b": "x"})];
    }
    let Some(properties) = own["properties"].as_object() else { return [json!("x"), json!("x")] };
    let names = sent["properties"].as_object().expect("an object stays one");
    let mut members = [Map::new(), Map::new()];
    for ((own_name, own), (sent_name, sent)) in properties.iter().zip(names) {
        let [own, sent] = inside(own, sent);
        members[0].insert(own_name.clone(), own);
        members[1].insert(sent_name.clone(), sent);
    }
    members.map(Value::from)
}

/// Names that a provider refuses, or that would be spelled alike.
fn object(of: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let names = ["a b", "a-b", "a_b", "$ref", "_ref", "$defs", "properties", "required", "a/~b", "\"", "é"];
    let name = prop_oneof![prop::sample::select(&WILD[..]), prop::sample::select(names.to_vec())];
    prop::collection::vec((name, of), 1..5).prop_map(|members| {
        let properties: Map<String, Value> =
            members.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        let names: Vec<&String> = properties.keys().collect();
        json!({"type": "object", "properties": properties, "required": names})
    })
}

fn parameters() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "object", "additionalProperties": {"type": "string"}})),
        Just(json!({"$ref": "#/$defs/shared"})),
    ];
    let inner = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            inner.clone().prop_map(|inner| json!({"anyOf": [inner, {"type": "null"}]})),
            object(inner),
        ]
    });
    (object(inner), object(Just(json!({"type": "string"})))).prop_map(|(mut schema, shared)| {
        schema["$defs"] = json!({"shared": shared});
        schema
    })
}

proptest! {
    #[test]
    fn every_sent_name_is_accepted_and_the_tool_gets_its_own(parameters in parameters()) {
        let registry = ToolRegistry::from_tools([Echo::new(parameters.clone())]).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let call = |arguments: &Value| {
            let output = runtime.block_on(registry.call("echo", arguments.to_string())).unwrap();
            from_str::<Value>(&output.to_text()).unwrap()
        };
        for &format in ApiFormat::ALL {
            let (rule, pointer) = api(format);
            let plain = DefinitionOptions::default().with_json_schema(true);
            let ways = [(DefinitionOptions::default(), pointer), (plain, "/0/function_declarations/0/parametersJsonSchema")];
            for (options, pointer) in ways.into_iter().take(1 + usize::from(format == ApiFormat::Gemini)) {
                let tools = registry.definitions(format.with_options(options));
                let schema = tools.value().pointer(pointer).unwrap();
                let mut names = Vec::new();
                each_subschema(&mut schema.clone(), &mut |keywords| {
                    names.extend(keywords.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone()));
                });
                let refused = names.iter().find(|name| rule.is_some_and(|rule| !rule.accepts(name)));
                prop_assert_eq!(refused, None, "{}", format);
                prop_assert!(tools.report().limits.is_empty());
                for renamed in &tools.report().renamed {
                    prop_assert!(rule.is_some_and(|rule| !rule.accepts(&renamed.name)), "{renamed}");
                }
                let [own, sent] = values([&parameters, schema], [&parameters, schema]);
                prop_assert_eq!(call(&sent), own.clone(), "{}: {}", format, sent);
                prop_assert_eq!(call(&own), own);
            }
        }
    }
}

#[tokio::test]
async fn a_provider_gets_accepted_names_of_parameters_and_the_tool_its_own() {
    let long = format!("very_{}", "long".repeat(30));
    let names: Vec<&str> = WILD.into_iter().chain([long.as_str()]).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    let echo = Echo::new(json!({"type": "object", "properties": properties, "required": names}));
    let registry = ToolRegistry::from_tools([echo]).expect("one tool").with_call_reason(true);
    let dispatcher = Dispatcher::new(registry.clone()).expect("no problems");
    for format in [ApiFormat::Anthropic, ApiFormat::Bedrock, ApiFormat::Gemini, ApiFormat::GeminiInteractions]
    {
        let (rule, pointer) = api(format);
        let rule = rule.expect("the API has a rule");
        let definitions = registry.definitions(format);
        let schema = definitions.value().pointer(pointer).expect("the schema of the parameters");
        let sent: Vec<&String> = schema["properties"].as_object().expect("properties").keys().collect();
        assert_eq!(sent.len(), names.len() + 1, "{format}: {sent:?}");
        for (name, sent) in names.iter().zip(&sent) {
            assert!(rule.accepts(sent), "{format}: {sent}");
            assert!(*name == *sent || !rule.accepts(name), "{format}: {name}");
            let is_reported =
                definitions.report().renamed.iter().any(|it| it.name == *name && it.spelling == **sent);
            assert_eq!(is_reported, *name != *sent, "{format}: {name}");
        }
        assert_eq!(schema["required"], json!(sent[..names.len()]), "{format}");
        let written = |names: &[&str]| {
            let members: Vec<String> = names.iter().map(|name| format!("{}:\"1.0\"", json!(name))).collect();
            format!("{{{}}}", members.join(","))
        };
        let sent: Vec<&str> = sent.iter().take(names.len()).map(|name| name.as_str()).collect();
        let result = dispatcher.dispatch([ToolCall::new("1", "echo", written(&sent))]).await.remove(0);
        assert_eq!(result.output().expect("the tool ran").to_text(), written(&names), "{format}");
    }
}

#[tokio::test]
async fn a_tool_with_a_hidden_argument_gets_its_own_names() {
    let free = json!({"type": "object", "properties": {"any": {"type": "string"}}});
    let stage = json!({"type": "object", "properties": {"$match": free, "$meta": {"type": "string"}}});
    let schema = json!({
        "type": "object",
        "properties": {
            "x-token": {"type": "string"},
            "pipeline": {"type": "array", "items": stage},
            "document": free,
        },
        "required": ["x-token"],
    });
    let hidden = AdaptedTool::new(Echo::new(schema))
        .with_arguments([ArgumentTransform::new("x-token").fixed("secret-1")])
        .expect("it can be hidden");
    let registry = ToolRegistry::from_tools([hidden]).expect("one tool");
    let definitions = registry.definitions(ApiFormat::Gemini);
    let report = definitions.report();
    assert_eq!(
        report.to_string(),
        "tool `echo`: parameter `$match` is sent as `_match`\ntool `echo`: parameter `$meta` is sent as `_meta`"
    );
    assert!(report.is_clean());
    // The model may mix names, and members that no schema names are data.
    let arguments = json!({"pipeline": [{"_match": {"_meta": 1}, "$meta": "a"}], "document": {"_meta": 2}});
    let output = registry.call("echo", arguments.to_string()).await.expect("the tool ran");
    let expected = json!({
        "pipeline": [{"$match": {"_meta": 1}, "$meta": "a"}],
        "document": {"_meta": 2},
        "x-token": "secret-1",
    });
    assert_eq!(from_str::<Value>(&output.to_text()).expect("JSON"), expected);
}

#[test]
fn rules_about_parameters_and_examples_have_the_names_that_the_provider_accepts() {
    let mut echo = Echo::new(json!({
        "type": "object",
        "properties": {"$a": {"type": "string"}, "b": {"items": {"properties": {"$a": {"type": "null"}}}}},
        "dependentRequired": {"b": ["$a"]},
        "if": {"required": ["$a"]},
        "then": {"properties": {"$a": {"minLength": 2}}},
    }));
    echo.0.metadata.input_examples = vec![json!({"$a": "x", "b": [{"$a": null}]})];
    let tools =
        ToolRegistry::from_tools([echo]).expect("one tool").definitions(ApiFormat::Anthropic).to_value();
    let expected = json!({
        "type": "object",
        "properties": {"_a": {"type": "string"}, "b": {"items": {"properties": {"_a": {"type": "null"}}}}},
        "dependentRequired": {"b": ["_a"]},
        "if": {"required": ["_a"]},
        "then": {"properties": {"_a": {"minLength": 2}}},
    });
    assert_eq!(tools[0]["input_schema"], expected);
    assert_eq!(tools[0]["input_examples"], json!([{"_a": "x", "b": [{"_a": null}]}]));
}
