//! The registry: order, look-up, merging.

use std::sync::Arc;
use toolkit_ai::prelude::*;
use toolkit_ai::registry::{Discovery, TagMatch};
use toolkit_ai::{ClosureTool, LiveRegistry, ToolFilter};

/// Adds.
#[tool(namespace = "registry")]
fn plus(a: i64, b: i64) -> i64 {
    a + b
}

/// Subtracts.
#[tool(namespace = "registry")]
fn minus(a: i64, b: i64) -> i64 {
    a - b
}

/// Divides.
#[tool(namespace = "registry")]
fn divide(a: i64, b: i64) -> Option<i64> {
    a.checked_div(b)
}

fn names(registry: &ToolRegistry) -> Vec<&str> {
    registry.iter_definitions().map(|definition| definition.name.as_str()).collect()
}

#[test]
fn tools_are_listed_sorted_by_name() {
    let one = ToolRegistry::from_tools(tools![plus, minus, divide]).expect("no collisions");
    let other = ToolRegistry::from_tools(tools![divide, plus, minus]).expect("no collisions");
    assert_eq!(names(&one), ["registry-divide", "registry-minus", "registry-plus"]);
    assert_eq!(names(&one), names(&other));
    let format = ApiFormat::OpenAiChat;
    assert_eq!(one.definitions(format).as_json(), other.definitions(format).as_json());
}

#[test]
fn a_change_is_in_the_next_list_of_definitions() {
    let mut registry = ToolRegistry::from_tools(tools![plus]).expect("one tool");
    let before = registry.definitions(ApiFormat::OpenAiChat);
    registry.register(minus::tool()).expect("another name");
    let after = registry.definitions(ApiFormat::OpenAiChat);
    assert_eq!(before.to_value().as_array().map(Vec::len), Some(1));
    assert_eq!(after.to_value().as_array().map(Vec::len), Some(2));
}

#[test]
fn registries_are_merged() {
    let mut registry = ToolRegistry::from_tools(tools![plus]).expect("one tool");
    registry.merge(ToolRegistry::from_tools(tools![minus]).expect("one tool")).expect("no collisions");
    assert_eq!(names(&registry), ["registry-minus", "registry-plus"]);
    registry.check().expect("no collisions");
}

#[test]
fn a_dispatcher_refuses_a_registry_with_collisions() {
    let left = ToolRegistry::from_tools(tools![plus, minus]).expect("two tools");
    let right = ToolRegistry::from_tools(tools![minus, divide]).expect("two tools");
    let mut merged = left.clone();
    assert!(merged.merge(right.clone()).is_err());
    assert_eq!(names(&merged), names(&left), "a refused merge changes nothing");

    let error = Dispatcher::new([minus::tool(), minus::tool()]).expect_err("a name is taken");
    assert!(error.to_string().starts_with("tool `registry-minus`, defined at "), "{error}");
    assert!(error.to_string().contains("is registered twice"), "{error}");
}

#[tokio::test]
async fn an_unknown_tool_fails_with_the_nearest_names() {
    let registry = ToolRegistry::from_tools(tools![plus, minus, divide]).expect("no collisions");
    for (name, message) in [
        ("registry-pluss", "Tool `registry-pluss` not found; did you mean `registry-plus`"),
        ("x", "Tool `x` not found; available tools: `registry-divide`, `registry-minus`, `registry-plus`"),
    ] {
        let error = registry.call(name, "{}").await.expect_err("there is no such tool");
        assert!(error.message().starts_with(message), "{error}");
        assert_eq!(error.brief(), format!("Tool `{name}` not found"));
    }
}

#[test]
fn a_changed_registry_renders_like_a_new_one() {
    #[derive(ToolParams)]
    struct Nothing {}
    let named =
        |name: &str| ClosureTool::new(name, "A tool.", |Nothing {}: Nothing| async { "done" }).unwrap();
    for &format in ApiFormat::ALL {
        let mut registry = ToolRegistry::from_tools([named("fs.read"), named("zip")]).unwrap();
        let before = registry.definitions(format).to_value();
        // Where dots are refused, the new name is spelled like the old one.
        registry.register(named("fs_read")).unwrap();
        let fresh = ToolRegistry::from_tools([named("zip"), named("fs_read"), named("fs.read")]).unwrap();
        assert_eq!(registry.definitions(format).as_json(), fresh.definitions(format).as_json());
        assert_ne!(registry.definitions(format).to_value(), before);
    }
}

#[test]
fn a_discovery_selects_by_crate_module_name_and_tag() {
    let found = |discovery: &Discovery| {
        let registry = ToolRegistry::discover_with(discovery).expect("no clash");
        names(&registry).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let here = Discovery::new().in_modules([module_path!()]);
    assert_eq!(found(&here), ["registry-divide", "registry-minus", "registry-plus"]);
    let some = here.clone().with_filter(ToolFilter::new().exclude(["*us"]).unwrap());
    assert_eq!(found(&some), ["registry-divide"]);
    let tagged = here.with_filter(ToolFilter::new().with_tags(TagMatch::any(["no such tag"])));
    assert!(found(&tagged).is_empty());
    let krate = module_path!().split("::").next().expect("the crate");
    assert!(found(&Discovery::new().in_modules([krate])).contains(&"events-echo".to_owned()));
    let error = ToolRegistry::discover_with(&Discovery::new().in_modules(["it::registri"])).unwrap_err();
    let expected = "linked crate or module with tools `it::registri` not found; did you mean `it::registry`";
    assert!(error.to_string().starts_with(expected), "{error}");
}

struct Set;

#[toolset]
impl Set {
    /// One.
    #[tool]
    fn one() -> u8 {
        1
    }
}

#[tokio::test]
async fn every_source_of_tools_is_registered_at_once() {
    let registry = || ToolRegistry::from_tools(tools![plus]).expect("one tool").with_state(5_u8);
    let live = LiveRegistry::new(tools![minus]).expect("one tool");
    let mut all = ToolRegistry::new();
    all.register_all(Arc::new(Set)).expect("a toolset");
    all.register_all(vec![divide::tool()]).expect("a list");
    all.register_all(&live).expect("a live registry");
    all.register_all(Arc::new(registry())).expect("a shared registry");
    let expected = ["registry-divide", "registry-minus", "registry-plus", "set-one"];
    assert_eq!(names(&all), expected);
    live.change(|registry| registry.register(plus::tool())).expect("another name");
    assert_eq!(names(&all), expected, "later changes are not followed");

    let error = all.register_all(registry()).expect_err("the name is taken").to_string();
    assert!(error.contains("`registry-plus`"), "{error}");
    let error = all.register_all(tools![minus, minus]).expect_err("a list with the tool twice").to_string();
    assert!(error.contains("`registry-minus`"), "{error}");
    assert_eq!(names(&all), expected, "the registry is unchanged");
    all.register_all_in("more", registry()).expect("another namespace");
    let output = all.call("more-plus", r#"{"a": 1, "b": 2}"#).await.expect("a result");
    assert_eq!(output.to_text(), "3");
}
