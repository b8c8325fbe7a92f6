//! Names: collisions, legality, spellings for providers.

use toolkit::prelude::*;
use toolkit::serde_json::{Map, Value, json};
use toolkit::{ToolDefinition, ToolFuture, ToolName, ToolOutput};

struct Named(ToolDefinition);

impl Named {
    fn new(name: &str) -> Self {
        let name = ToolName::new(name).expect("a legal name");
        Self(ToolDefinition::new(name, "", json!({"type": "object"})))
    }
}

impl Tool for Named {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text(context.tool_name().as_str())))
    }
}

fn sent_names(registry: &ToolRegistry) -> Vec<String> {
    let definitions = registry.definitions(ApiFormat::OpenAiChat).to_value();
    let tools = definitions.as_array().expect("a list");
    tools.iter().map(|tool| tool["function"]["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn a_provider_gets_accepted_names_and_its_calls_find_the_tool() {
    let long = format!("files.{}", "n".repeat(100));
    let names = ["fs.read", "fs.write", "fs_write", &long];
    let registry = ToolRegistry::from_tools(names.map(Named::new)).expect("no collisions");
    let sent = sent_names(&registry);
    assert_eq!(sent.len(), 4);
    assert!(sent.contains(&"fs_read".to_owned()) && sent.contains(&"fs_write".to_owned()), "{sent:?}");
    let mut answers = Vec::new();
    for name in &sent {
        assert!(
            name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'),
            "{name}"
        );
        answers.push(registry.call(name, "{}").await.expect("the tool is found").to_text().into_owned());
    }
    answers.sort();
    let mut expected = names.map(str::to_owned);
    expected.sort();
    assert_eq!(answers, expected);
}

#[test]
fn a_collision_is_refused_with_both_locations() {
    mod one {
        /// One.
        #[toolkit::tool]
        pub(super) fn twin() {}
    }
    mod other {
        /// Other.
        #[toolkit::tool(name = "twin", namespace = "other")]
        pub(super) fn twin() {}
    }
    let mut registry = ToolRegistry::from_tools(tools![one::twin]).expect("one tool");
    let rival = other::twin::tool().with_name(ToolName::new("twin").expect("a legal name"));
    let error = registry.register(rival).expect_err("the name is taken");
    let text = error.to_string();
    assert!(text.starts_with("tool `twin` is defined twice: at "), "{text}");
    assert_eq!(text.matches(file!()).count(), 2, "{text}");
    assert!(text.ends_with("rename one or put it into a namespace"), "{text}");
    assert_eq!(registry.len(), 1);
}

#[test]
fn all_collisions_are_reported_at_once() {
    let error =
        ToolRegistry::from_tools(["a", "b", "a", "b", "c"].map(Named::new)).expect_err("two names are taken");
    assert_eq!(error.problems().len(), 2);
    assert!(
        error.to_string().starts_with("2 problems with the registered tools\n- tool `a` is defined twice"),
        "{error}"
    );
}

#[tokio::test]
async fn errors_use_the_spellings_the_model_knows() {
    let registry = ToolRegistry::from_tools(["fs.read", "fs.write"].map(Named::new)).expect("no collisions");
    let dispatcher = Dispatcher::new(registry).expect("no collisions");
    let calls = [ToolCall::new("1", "fs_reed", "{}"), ToolCall::new("2", "nothing like it", "{}")];
    let results = dispatcher.dispatch(calls).await;
    assert_eq!(results[0].to_text(), "Tool `fs_reed` not found; did you mean `fs_read`?");
    assert_eq!(
        results[1].to_text(),
        "Tool `nothing like it` not found; available tools: `fs_read`, `fs_write`"
    );
    let token = toolkit::CancellationToken::new();
    token.cancel();
    let cancelled = dispatcher.dispatch_with([ToolCall::new("3", "fs_read", "{}")], token).await;
    assert_eq!(cancelled[0].to_text(), "Tool `fs_read` was cancelled before it finished");
}

/// A tool with the given parameters. It returns its arguments.
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

/// Names of parameters of MCP servers in the wild.
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

/// An API with a rule for names of parameters, the rule, and the JSON pointer to the schema of the first tool.
type Rule = (ApiFormat, fn(&str) -> bool, &'static str);

fn rules() -> [Rule; 3] {
    let anthropic = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    let gemini = |name: &str| {
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    [
        (ApiFormat::Anthropic, anthropic, "/0/input_schema"),
        (ApiFormat::Bedrock, anthropic, "/0/toolSpec/inputSchema/json"),
        (ApiFormat::Gemini, gemini, "/0/function_declarations/0/parameters"),
    ]
}

#[tokio::test]
async fn a_provider_gets_accepted_names_of_parameters_and_the_tool_its_own() {
    let long = format!("very_{}", "long".repeat(30));
    let names: Vec<&str> = WILD.into_iter().chain([long.as_str()]).collect();
    let inner = json!({"type": "object", "properties": {"x[y]": {"type": "string"}}});
    let properties: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), inner.clone())).collect();
    let echo = Echo::new(json!({"type": "object", "properties": properties, "required": names}));
    let registry = ToolRegistry::from_tools([echo]).expect("one tool").with_call_reason(true);
    let dispatcher = Dispatcher::new(registry.clone()).expect("no problems");
    for (format, is_accepted, pointer) in rules() {
        let definitions = registry.definitions(format);
        assert!(definitions.report().limits.is_empty(), "{format}: {}", definitions.report());
        let tools = definitions.to_value();
        let schema = tools.pointer(pointer).expect("the schema of the parameters");
        let sent: Vec<&String> = schema["properties"].as_object().expect("properties").keys().collect();
        assert_eq!(sent.len(), names.len() + 1, "{format}: {sent:?}");
        for (name, sent) in names.iter().zip(&sent) {
            assert!(is_accepted(sent) && (1..=64).contains(&sent.len()), "{format}: {sent}");
            assert!(
                *name == *sent || !is_accepted(name) || name.is_empty() || name.len() > 64,
                "{format}: {name}"
            );
        }
        assert_eq!(schema["required"], json!(sent[..names.len()]), "{format}");
        // Names inside of a parameter stay as they are.
        assert!(schema["properties"]["plain"]["properties"].get("x[y]").is_some(), "{format}");

        let members: Vec<String> = sent.iter().map(|name| format!("\"{name}\": {{\"x_y_\": 1.0}}")).collect();
        let arguments = format!("{{{}}}", members.join(", "));
        let own: Vec<String> =
            names.iter().map(|name| format!("{}: {{\"x_y_\": 1.0}}", json!(name))).collect();
        let own = format!("{{{}}}", own.join(", "));
        let call = ToolCall::new("1", "echo", arguments.as_str());
        let result = dispatcher.dispatch(vec![call]).await.remove(0);
        assert_eq!(result.output().expect("the tool ran").to_text(), own, "{format}");
        assert_eq!(registry.call("echo", &arguments).await.expect("the tool ran").to_text(), own, "{format}");
        assert_eq!(registry.call("echo", &own).await.expect("the tool ran").to_text(), own, "{format}");
    }
}

#[test]
fn rules_about_parameters_and_examples_have_the_names_that_the_provider_accepts() {
    let mut echo = Echo::new(json!({
        "type": "object",
        "properties": {"$a": {"type": "string"}, "b": {"type": "string"}},
        "dependentRequired": {"b": ["$a"]},
        "if": {"required": ["$a"]},
        "then": {"properties": {"$a": {"minLength": 2}}},
    }));
    echo.0.metadata.input_examples = vec![json!({"$a": "x"})];
    let tools =
        ToolRegistry::from_tools([echo]).expect("one tool").definitions(ApiFormat::Anthropic).to_value();
    let expected = json!({
        "type": "object",
        "properties": {"_a": {"type": "string"}, "b": {"type": "string"}},
        "dependentRequired": {"b": ["_a"]},
        "if": {"required": ["_a"]},
        "then": {"properties": {"_a": {"minLength": 2}}},
    });
    assert_eq!(tools[0]["input_schema"], expected);
    assert_eq!(tools[0]["input_examples"], json!([{"_a": "x"}]));
}
