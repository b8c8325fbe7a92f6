//! Call reasons: the reason that the model gives for a call.

use std::sync::{Arc, Mutex};
use toolkit_ai::error::{BuildProblem, ToolFault};
use toolkit_ai::llm::DefinitionOptions;
use toolkit_ai::prelude::*;

/// Adds.
#[tool(register = false)]
fn add(a: i64, #[param(default = 1)] b: i64) -> i64 {
    a + b
}

/// Asks for a reason whatever the registry says.
#[tool(register = false, call_reason)]
fn always(context: &ToolContext) -> String {
    context.call_reason().unwrap_or("none").to_owned()
}

/// Never asks for one.
#[tool(register = false, call_reason = false)]
fn never(a: i64) -> i64 {
    a
}

/// Has a parameter of that name.
#[tool(register = false)]
fn explain(call_reason: String) -> String {
    call_reason
}

fn registry() -> ToolRegistry {
    ToolRegistry::from_tools(tools![add, always, never]).unwrap()
}

fn asked(registry: &ToolRegistry, format: ApiFormat) -> Vec<String> {
    let tools = registry.definitions(format).to_value().to_string();
    let name = |tool: &&str| {
        tools.split(tool).nth(1).is_some_and(|rest| {
            let next = rest.find("\"name\"").unwrap_or(rest.len());
            rest[..next].contains("Why you chose this tool and what you expect from it.")
        })
    };
    ["\"add\"", "\"always\"", "\"never\""]
        .iter()
        .filter(|tool| name(tool))
        .map(|tool| tool.replace('"', ""))
        .collect()
}

#[test]
fn the_setting_of_the_tool_takes_precedence_over_the_registry() {
    for &format in ApiFormat::ALL {
        assert_eq!(asked(&registry(), format), ["always"], "{format}");
        assert_eq!(asked(&registry().with_call_reason(true), format), ["add", "always"], "{format}");
    }
    let options = DefinitionOptions::default().with_call_reason(true);
    let with = registry().definitions(ApiFormat::Anthropic.with_options(options.clone()));
    assert_eq!(with.as_json(), registry().with_call_reason(true).definitions(ApiFormat::Anthropic).as_json());
}

#[test]
fn the_reason_is_last_and_never_required_and_the_definition_stays() {
    let registry = registry().with_call_reason(true);
    let before = registry.definitions(ApiFormat::Anthropic).to_value();
    let schema = &before[0]["input_schema"];
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["a", "b", "call_reason"]);
    assert_eq!(schema["required"], serde_json::json!(["a"]));
    let own = &registry.get("add").unwrap().definition().parameters;
    assert!(own["properties"].get("call_reason").is_none());
}

#[tokio::test]
async fn the_reason_is_in_the_result_and_not_in_the_arguments() {
    let dispatcher = Dispatcher::new(registry().with_call_reason(true)).unwrap();
    let calls = [
        ToolCall::new("1", "add", r#"{"call_reason": "To sum up", "a": "2"}"#),
        ToolCall::new("2", "add", r#"{"a": 2, "c": 3, "call_reason": "To fail"}"#),
        ToolCall::new("3", "always", r#"{"call_reason": "To see"}"#),
        ToolCall::new("4", "never", r#"{"a": 1, "call_reason": "Nobody asked"}"#),
        ToolCall::new("5", "add", r#"{"a": 1}"#),
    ];
    let results = dispatcher.dispatch(calls).await;
    let texts: Vec<String> = results.iter().map(|result| result.to_text().into_owned()).collect();
    assert_eq!(texts[0], "3");
    assert!(texts[1].contains("`c`") && !texts[1].contains("call_reason"), "{}", texts[1]);
    assert_eq!(texts[2], "To see");
    assert!(texts[3].contains("`call_reason`"), "{}", texts[3]);
    let reasons: Vec<Option<&str>> = results.iter().map(|result| result.call_reason.as_deref()).collect();
    assert_eq!(reasons, [Some("To sum up"), Some("To fail"), Some("To see"), None, None]);
}

#[test]
fn a_parameter_with_the_reserved_name_is_reported() {
    let tools = || ToolRegistry::from_tools(tools![explain]).unwrap();
    assert!(Dispatcher::new(tools()).is_ok());
    let error = Dispatcher::new(tools().with_call_reason(true)).unwrap_err();
    assert!(
        matches!(error.problems(), [BuildProblem::Tool { fault: ToolFault::ReservedParameter { .. }, .. }]),
        "{error}"
    );
    let text = error.to_string();
    assert!(text.starts_with("tool `explain` (defined at "), "{text}");
}

#[tokio::test]
async fn tools_that_opt_out_receive_the_arguments_unchanged() {
    use toolkit_ai::{ToolDefinition, ToolFuture, ToolName};

    struct Raw(ToolDefinition, Arc<Mutex<Vec<String>>>);

    impl Tool for Raw {
        fn definition(&self) -> &ToolDefinition {
            &self.0
        }

        fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
            self.1.lock().unwrap().push(arguments.to_owned());
            ToolFuture::ready(Ok(ToolOutput::text("")))
        }
    }

    let seen = Arc::new(Mutex::new(Vec::new()));
    let schema = serde_json::json!({"type": "object"});
    let raw = Raw(ToolDefinition::new(ToolName::new("raw").unwrap(), "", schema), seen.clone());
    let registry = ToolRegistry::from_tools([raw]).unwrap().with_call_reason(true);
    registry.call("raw", r#"{"n" : 1.50, "call_reason": "x","s":"\u00e9"}"#).await.unwrap();
    registry.call("raw", "{ broken call_reason").await.unwrap_err();
    assert_eq!(*seen.lock().unwrap(), [r#"{"n" : 1.50,"s":"\u00e9"}"#]);
}
