//! Everyday details: arguments of a call, results without a value, tags, closures without parameters.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use tokio::runtime::Builder;
use toolkit_ai::prelude::*;
use toolkit_ai::registry::IntoArguments;
use toolkit_ai::schemars::JsonSchema;
use toolkit_ai::{ClosureTool, Content, Json, RawArguments, ToolMetadata, ToolTag};

fn echo() -> ToolRegistry {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Any {
        #[serde(flatten)]
        all: serde_json::Map<String, Value>,
    }

    let echo = ClosureTool::new("echo", "Repeats.", |any: Any| Json(any)).expect("an object");
    ToolRegistry::from_tools([echo]).expect("one tool")
}

async fn echoed<'a>(registry: &'a ToolRegistry, arguments: impl IntoArguments<'a>) -> Value {
    let output = registry.call("echo", arguments).await.expect("they are arguments");
    serde_json::from_str(&output.to_text()).expect("JSON")
}

#[derive(Serialize)]
struct Point {
    x: i64,
    name: &'static str,
}

#[tokio::test]
async fn arguments_of_a_call_are_text_a_value_or_any_serializable_type() {
    let registry = echo();
    let value = json!({"x": 1, "name": "a"});
    let text = value.to_string();
    let raw = RawArguments::from(text.clone());
    assert_eq!(echoed(&registry, text.as_str()).await, value);
    assert_eq!(echoed(&registry, &text).await, value);
    assert_eq!(echoed(&registry, text.clone()).await, value);
    assert_eq!(echoed(&registry, Cow::from(text.as_str())).await, value);
    assert_eq!(echoed(&registry, &raw).await, value);
    assert_eq!(echoed(&registry, &value).await, value);
    assert_eq!(echoed(&registry, value.clone()).await, value);
    assert_eq!(echoed(&registry, Json(Point { x: 1, name: "a" })).await, value);
    assert_eq!(echoed(&registry, Json(&Point { x: 1, name: "a" })).await, value);
    let no_json = std::collections::BTreeMap::from([((1, 2), 3)]);
    assert!(registry.call("echo", Json(no_json)).await.is_err());
}

proptest! {
    #[test]
    fn all_forms_of_arguments_are_the_same_call(
        members in proptest::collection::btree_map("[a-z\"\\\\é]{0,6}", "[ -~é\\n]{0,12}", 0..5),
    ) {
        let registry = echo();
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let value = json!(members);
        prop_assert_eq!(&runtime.block_on(echoed(&registry, value.to_string())), &value);
        prop_assert_eq!(&runtime.block_on(echoed(&registry, &value)), &value);
        prop_assert_eq!(&runtime.block_on(echoed(&registry, Json(&members))), &value);
    }
}

/// Does it.
#[tool(register = false)]
fn act() {}

/// Does it, perhaps.
#[tool(register = false)]
fn try_to(fail: bool) -> Result<(), String> {
    if fail { Err("it does not work".to_owned()) } else { Ok(()) }
}

/// Does it later.
#[tool(register = false)]
async fn later() {
    tokio::task::yield_now().await;
}

/// Does it if there is something to do.
#[tool(register = false)]
fn perhaps(found: bool) -> Option<()> {
    found.then_some(())
}

#[tokio::test]
async fn a_result_without_a_value_is_done() {
    let nothing = ClosureTool::without_arguments("nothing", "Does nothing.", || ()).expect("legal");
    let soon = ClosureTool::without_arguments("soon", "Does it soon.", || async {}).expect("legal");
    let maybe = ClosureTool::without_arguments("maybe", "Tries.", || Ok::<(), ToolError>(())).expect("legal");
    let mut registry = ToolRegistry::from_tools([nothing, soon, maybe]).expect("three tools");
    for tool in tools![act, try_to, later, perhaps] {
        registry.register(tool).expect("a free name");
    }
    for (name, arguments, expected) in [
        ("nothing", "{}", "done"),
        ("soon", "", "done"),
        ("maybe", "null", "done"),
        ("act", "{}", "done"),
        ("try_to", r#"{"fail": false}"#, "done"),
        ("later", "{}", "done"),
        ("perhaps", r#"{"found": true}"#, "done"),
        ("perhaps", r#"{"found": false}"#, "null"),
    ] {
        assert_eq!(registry.call(name, arguments).await.expect(name).to_text(), expected, "{name}");
        let schema = registry.get(name).expect(name).definition().output_schema();
        assert_eq!(schema, None, "{name}: `done` is text");
    }
}

#[test]
fn content_is_created_from_strings() {
    let all = [Content::text("a"), "a".into(), "a".to_owned().into()];
    assert!(all.iter().all(|content| content.to_text() == "a"));
    assert_eq!(ToolOutput::from("a").with_content("b").to_text(), "a\nb");
}

#[test]
fn tags_are_strings_or_tool_tags() {
    let words = ToolMetadata::default().with_tags(["network", "billing"]);
    let owned = ToolMetadata::default().with_tags(["network".to_owned(), "billing".to_owned()]);
    let tags = ToolMetadata::default().with_tags([ToolTag::Network, ToolTag::Custom("billing".to_owned())]);
    assert_eq!(words.tags, owned.tags);
    assert_eq!(words.tags, tags.tags);
}
