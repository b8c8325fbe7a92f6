//! Registry changes: disabling, replacing, overriding, namespaces, filters.

use toolkit_ai::name::Separator;
use toolkit_ai::prelude::*;
use toolkit_ai::registry::{Collision, TagMatch};
use toolkit_ai::{AdaptedTool, ErrorKind, ToolFilter, ToolName, ToolTag};

/// Adds.
#[tool(namespace = "math", tags("pure"))]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Divides.
#[tool(namespace = "math", tags("pure", "slow"))]
fn divide(a: i64, b: i64) -> Option<i64> {
    a.checked_div(b)
}

/// Fetches.
#[tool(namespace = "web", tags("network", "slow"))]
fn fetch(url: String) -> String {
    url
}

/// Waits.
#[tool]
fn pause() -> &'static str {
    "done"
}

/// Adds otherwise.
#[tool(namespace = "web", name = "add")]
fn add_online(a: i64, b: i64) -> i64 {
    a + b + 1000
}

fn registry() -> ToolRegistry {
    ToolRegistry::from_tools(tools![add, divide, fetch, pause]).expect("no collisions")
}

fn names(registry: &ToolRegistry) -> Vec<&str> {
    registry.names().collect()
}

fn listed(registry: &ToolRegistry) -> Vec<String> {
    let definitions = registry.definitions(ApiFormat::Anthropic).to_value();
    let names = definitions.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
    names.map(str::to_owned).collect()
}

async fn answer(registry: &ToolRegistry, name: &str, arguments: &str) -> String {
    match registry.call(name, arguments).await {
        Ok(output) => output.to_text().into_owned(),
        Err(error) => error.message().to_owned(),
    }
}

#[track_caller]
fn refused<T>(result: Result<T, BuildError>, message: &str) {
    let error = result.err().expect("it is refused");
    assert_eq!(error.to_string(), message);
}

#[tokio::test]
async fn a_disabled_tool_is_not_listed_and_its_call_fails_with_the_reason() {
    let mut registry = registry();
    registry.disable("math-add", "under maintenance").expect("it is there");
    registry.disable("pause", "").expect("it is there");
    assert_eq!(names(&registry), ["math-divide", "web-fetch"]);
    assert_eq!(listed(&registry), ["math-divide", "web-fetch"]);
    assert!(!registry.contains("pause"));
    assert!(registry.get_any("pause").is_some());
    let disabled: Vec<(&str, &str)> =
        registry.disabled().map(|(tool, reason)| (tool.definition().name.as_str(), reason)).collect();
    assert_eq!(disabled, [("math-add", "under maintenance"), ("pause", "")]);

    let error = registry.call("math-add", r#"{"a": 1, "b": 2}"#).await.expect_err("it is disabled");
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Disabled, "Tool `math-add` is disabled: under maintenance")
    );
    assert_eq!(answer(&registry, "pause", "").await, "Tool `pause` is disabled");
    let results = Dispatcher::new(registry.clone())
        .expect("complete")
        .dispatch([
            ToolCall::new("1", "math-add", "{}"),
            ToolCall::new("2", "math-divide", r#"{"a": 6, "b": 2}"#),
        ])
        .await;
    assert_eq!(results[0].outcome.as_ref().expect_err("disabled").kind(), ErrorKind::Disabled);
    assert!(results[1].outcome.is_ok());

    registry.enable("math-add").expect("it is there");
    assert_eq!(answer(&registry, "math-add", r#"{"a": 1, "b": 2}"#).await, "3");
    assert_eq!(listed(&registry), ["math-add", "math-divide", "web-fetch"]);
}

#[tokio::test]
async fn a_disabled_tool_is_found_by_its_provider_spelling() {
    let mut registry = registry();
    registry.change_separator(Separator::Dot).expect("no collisions");
    registry.disable("web.fetch", "offline").expect("it is there");
    assert_eq!(answer(&registry, "web_fetch", "{}").await, "Tool `web_fetch` is disabled: offline");
}

#[test]
fn a_rule_for_a_tool_takes_precedence_over_its_namespace_and_its_tags() {
    let mut registry = registry();
    registry.disable_namespace("Math", "no sums today").expect("it is there");
    assert_eq!(names(&registry), ["pause", "web-fetch"]);
    assert_eq!(registry.disabled_reason("math-add"), Some("no sums today"));

    registry.disable("math-add", "broken").expect("it is there");
    registry.enable("math-divide").expect("it is there");
    registry.disable_tags(TagMatch::any([ToolTag::Slow]), "too slow").expect("known");
    assert_eq!(names(&registry), ["math-divide", "pause"]);
    assert_eq!(registry.disabled_reason("math-add"), Some("broken"));
    assert_eq!(registry.disabled_reason("web-fetch"), Some("too slow"));

    registry.enable_namespace("math").expect("it is there");
    assert_eq!(registry.disabled_reason("math-add"), Some("broken"), "it was disabled itself");
    assert!(registry.enable_tags(&TagMatch::any(["slow"])));
    assert!(!registry.enable_tags(&TagMatch::any(["slow"])), "the rule is gone");
    assert_eq!(names(&registry), ["math-divide", "pause", "web-fetch"]);
}

#[test]
fn tags_match_all_or_any() {
    let mut registry = registry();
    registry.disable_tags(TagMatch::all(["pure", "slow"]), "").expect("known");
    assert_eq!(names(&registry), ["math-add", "pause", "web-fetch"]);
}

#[test]
fn unknown_names_fail_with_the_nearest_names() {
    let mut registry = registry();
    refused(registry.disable("math-ad", ""), "tool `math-ad` not found; did you mean `math-add`?");
    refused(
        registry.enable("zzz"),
        "tool `zzz` not found; known are `math-add`, `math-divide`, `pause`, `web-fetch`",
    );
    refused(registry.disable_namespace("maths", ""), "namespace `maths` not found; did you mean `math`?");
    refused(registry.enable_namespace("zzz"), "namespace `zzz` not found; known are `math`, `web`");
    refused(registry.disable_tags(TagMatch::any(["pur"]), ""), "tag `pur` not found; did you mean `pure`?");
    refused(registry.unregister("paus"), "tool `paus` not found; did you mean `pause`?");
    refused(
        registry.replace(add_online::tool()),
        "tool `web-add` not found; known are `math-add`, `math-divide`, `pause`, `web-fetch`",
    );
    refused(registry.restore("pause"), "tool `pause` is not overridden; override it before restoring");
    refused(registry.spinoff("wbe").map(drop), "namespace `wbe` not found; did you mean `web`?");
    registry.disable_tags(TagMatch::any([ToolTag::Privileged]), "").expect("a tag that everybody knows");
    assert_eq!(registry.len(), 4);
}

#[test]
fn a_rule_outlives_the_removal_of_its_tool() {
    let mut registry = registry();
    registry.disable("pause", "no").expect("it is there");
    registry.unregister("pause").expect("disabled tools can be taken out");
    registry.disable_namespace("web", "offline").expect("it is there");
    registry.register(pause::tool()).expect("the name is free");
    registry.register(add_online::tool()).expect("the name is free");
    assert_eq!(names(&registry), ["math-add", "math-divide"]);
    assert_eq!(registry.disabled_reason("web-add"), Some("offline"));
    registry.unregister("pause").expect("it is there");
    registry.enable("pause").expect("it was disabled under this name");
    registry.register(pause::tool()).expect("the name is free");
    assert!(registry.contains("pause"));
    let error = registry.register(pause::tool()).expect_err("the name is taken");
    assert!(error.to_string().contains("is registered twice"), "{error}");
}

#[tokio::test]
async fn tools_are_replaced_overridden_and_restored() {
    let mut registry = registry();
    let arguments = r#"{"a": 1, "b": 2}"#;
    registry.override_tool("math-add", add_online::tool()).expect("it is there");
    registry.override_tool("math-add", divide::tool()).expect("it is there");
    assert_eq!(registry.overridden().collect::<Vec<_>>(), ["math-add"]);
    assert_eq!(answer(&registry, "math-add", arguments).await, "0");
    assert_eq!(registry.get("math-add").expect("it is there").definition().name.namespace(), Some("math"));
    registry.disable("math-add", "").expect("it is there");
    registry.restore("math-add").expect("it is overridden");
    assert!(!registry.contains("math-add"), "it was disabled under this name");
    registry.enable("math-add").expect("it is there");
    assert_eq!(answer(&registry, "math-add", arguments).await, "3");

    let name = ToolName::qualified("math", "add", Separator::Dash).expect("legal");
    let earlier =
        registry.replace(AdaptedTool::new(add_online::tool()).with_name(name)).expect("it is there");
    assert_eq!(earlier.definition().description, "Adds.");
    assert_eq!(answer(&registry, "math-add", arguments).await, "1003");
    assert_eq!(registry.overridden().count(), 0, "what is replaced is gone");
}

#[test]
fn merging_resolves_collisions_by_rule() {
    let other = || {
        let online = AdaptedTool::new(add_online::tool());
        let name = ToolName::qualified("math", "add", Separator::Dash).expect("legal");
        let mut other =
            ToolRegistry::from_tools([online.clone().with_name(name), online]).expect("two names");
        other.disable("web-add", "offline").expect("it is there");
        other
    };
    let description = |registry: &ToolRegistry| {
        registry.get("math-add").map(|tool| tool.definition().description.clone()).expect("it is there")
    };

    let mut refuses = registry();
    assert!(refuses.merge(other()).is_err());
    assert_eq!(names(&refuses), names(&registry()));
    assert!(refuses.get_any("web-add").is_none());

    let mut keeps = registry();
    keeps.merge_with(other(), Collision::Keep).expect("nothing is refused");
    assert_eq!(description(&keeps), "Adds.");
    assert_eq!(keeps.disabled_reason("web-add"), Some("offline"), "what was said of it comes along");

    let mut replaces = registry();
    replaces.merge_with(other(), Collision::Replace).expect("nothing is refused");
    assert_eq!(description(&replaces), "Adds otherwise.");
}

#[tokio::test]
async fn a_namespace_is_spun_off_with_the_rules_of_its_tools() {
    let mut registry = registry().with_state(7_u8);
    registry.disable("math-add", "broken").expect("it is there");
    registry.override_tool("math-divide", add::tool()).expect("it is there");
    let before = registry.definitions(ApiFormat::OpenAiChat);
    let mut math = registry.spinoff("math").expect("it is there");
    assert_eq!(names(&registry), ["pause", "web-fetch"]);
    assert_eq!(registry.overridden().count(), 0);
    assert_ne!(before.as_json(), registry.definitions(ApiFormat::OpenAiChat).as_json());

    assert_eq!(names(&math), ["math-divide"]);
    assert_eq!(math.reduce_namespaces(), Ok(true));
    assert_eq!(names(&math), ["divide"]);
    assert_eq!(math.disabled_reason("add"), Some("broken"));
    math.restore("divide").expect("it is overridden still");
    assert_eq!(answer(&math, "divide", r#"{"a": 6, "b": 2}"#).await, "3");
    assert_eq!(math.reduce_namespaces(), Ok(false), "there is none left");
}

#[test]
fn a_tool_that_leaves_a_disabled_namespace_stays_disabled() {
    let mut math = registry().spinoff("math").expect("it is there");
    math.disable_namespace("math", "no sums today").expect("it is there");
    math.reduce_namespaces().expect("no collisions");
    assert_eq!(names(&math), [""; 0]);
    assert_eq!(math.disabled_reason("add"), Some("no sums today"));
}

#[tokio::test]
async fn renaming_is_atomic() {
    let mut registry = ToolRegistry::from_tools(tools![add, add_online, pause]).expect("no collisions");
    assert_eq!(registry.reduce_namespaces(), Ok(false), "there are two");
    let error = registry.update_namespace("all", true, Separator::Dash).expect_err("two are called `add`");
    assert!(error.to_string().contains("tool `all-add` is defined twice"), "{error}");
    assert_eq!(names(&registry), ["math-add", "pause", "web-add"]);
    assert!(registry.update_namespace("!!", false, Separator::Dash).is_err());

    registry.update_namespace("Main", false, Separator::Dash).expect("no collisions");
    assert_eq!(names(&registry), ["main-pause", "math-add", "web-add"]);
    registry.change_separator(Separator::Dot).expect("no collisions");
    assert_eq!(names(&registry), ["main.pause", "math.add", "web.add"]);
    assert_eq!(answer(&registry, "web.add", r#"{"a": 1, "b": 2}"#).await, "1003");
    assert!(answer(&registry, "web.add", r#"{"a": 1}"#).await.contains("`b`"));
}

#[test]
fn a_filter_hides_all_other_tools() {
    let mut registry = registry();
    registry.disable("math-divide", "broken").expect("it is there");
    let chosen = |filter: ToolFilter| {
        let part = registry.filtered(&filter);
        part.names().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(chosen(ToolFilter::new()), ["math-add", "pause", "web-fetch"]);
    assert_eq!(
        chosen(ToolFilter::new().with_tags(TagMatch::any(["pure", "network"]))),
        ["math-add", "web-fetch"]
    );
    assert_eq!(
        chosen(ToolFilter::new().without_tags(TagMatch::any([ToolTag::Network]))),
        ["math-add", "pause"]
    );
    assert_eq!(chosen(ToolFilter::new().in_namespaces(["Math"])), ["math-add"]);
    assert_eq!(chosen(ToolFilter::new().include(["web-*", "paus?"]).unwrap()), ["pause", "web-fetch"]);
    assert_eq!(
        chosen(ToolFilter::new().include(["*"]).unwrap().exclude(["web-fetch"]).unwrap()),
        ["math-add", "pause"]
    );

    let part = registry.filtered(&ToolFilter::new().exclude(["math-*"]).unwrap());
    assert_eq!(part.disabled_reason("math-divide"), None);
    assert_eq!(part.definitions(ApiFormat::Gemini).to_value(), {
        let plain = ToolRegistry::from_tools(tools![fetch, pause]).expect("no collisions");
        plain.definitions(ApiFormat::Gemini).to_value()
    });
}
