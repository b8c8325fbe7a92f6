//! Names: collisions, legality, spellings for providers.

use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::json;
use toolkit_ai::{ToolDefinition, ToolFuture, ToolName, ToolOutput};

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
        #[toolkit_ai::tool]
        pub(super) fn twin() {}
    }
    mod other {
        /// Other.
        #[toolkit_ai::tool(name = "twin", namespace = "other")]
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
    let token = toolkit_ai::CancellationToken::new();
    token.cancel();
    let cancelled = dispatcher.dispatch_with([ToolCall::new("3", "fs_read", "{}")], token).await;
    assert_eq!(cancelled[0].to_text(), "Tool `fs_read` was cancelled before it finished");
}
