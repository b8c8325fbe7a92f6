//! State in merged registries: every tool sees that of its original one.

use crate::merged;
use std::sync::Arc;
use toolkit_ai::prelude::*;
use toolkit_ai::{FunctionTool, LiveRegistry, RegistryView, RunContext};

struct Db(&'static str);

/// Names the database.
#[tool(register = false)]
fn of_orders(#[state] db: &Db) -> &'static str {
    db.0
}

/// Names the database.
#[tool(register = false)]
fn of_users(#[state] db: &Db) -> &'static str {
    db.0
}

fn orders() -> ToolRegistry {
    ToolRegistry::from_tools(tools![of_orders]).expect("one tool").with_state(Db("orders"))
}

fn users() -> ToolRegistry {
    ToolRegistry::from_tools(tools![of_users]).expect("one tool").with_state(Db("users"))
}

async fn called(registry: &ToolRegistry, name: &str) -> String {
    registry
        .call(name, "{}")
        .await
        .map_or_else(|error| error.to_string(), |output| output.to_text().into_owned())
}

#[tokio::test]
async fn merged_tools_keep_the_state_that_they_came_with() {
    let mut merged = orders();
    merged.merge(users()).expect("no collision");
    assert_eq!(called(&merged, "of_orders").await, "orders");
    assert_eq!(called(&merged, "of_users").await, "users");
    let dispatcher = Dispatcher::new(merged).expect("the state is complete");
    let results = dispatcher.dispatch([ToolCall::new("1", "of_users", "{}")]).await;
    assert_eq!(results[0].to_text(), "users");

    let live = LiveRegistry::new(orders()).expect("complete");
    live.change(|registry| registry.merge(users())).expect("no collision");
    let view = live.snapshot().viewed(&RegistryView::new().rename("of_users", "people")).expect("possible");
    assert_eq!(called(&view, "people").await, "users");
}

#[tokio::test]
async fn state_of_one_registry_serves_the_tools_of_the_other() {
    let without = ToolRegistry::from_tools(tools![of_users]).expect("one tool");
    let merged = merged(orders(), without);
    assert_eq!(called(&merged, "of_users").await, "orders");
    assert!(Dispatcher::new(merged).is_ok());
}

struct Limit;

/// Names the database, if there is any.
#[tool(register = false)]
fn optional(#[state] db: Option<&Db>) -> &'static str {
    db.map_or("none", |db| db.0)
}

#[tokio::test]
async fn state_and_merges_may_come_in_any_order() {
    let mut merged = ToolRegistry::from_tools(tools![of_orders]).expect("one tool");
    merged.merge(users()).expect("no collision");
    let error = Dispatcher::new(merged.clone()).expect_err("the state of `users` is not for `of_orders`");
    assert!(error.to_string().contains("tool `of_orders`"), "{error}");
    let merged = merged.with_state(Db("orders"));
    assert_eq!(called(&merged, "of_orders").await, "orders");
    assert_eq!(called(&merged, "of_users").await, "users");

    // A library with its own state sees no optional state of the program.
    let with_state = ToolRegistry::from_tools(tools![optional]).expect("one tool").with_state(Limit);
    assert_eq!(called(&crate::merged(orders(), with_state), "optional").await, "none");
    let without = ToolRegistry::from_tools(tools![optional]).expect("one tool");
    assert_eq!(called(&crate::merged(orders(), without), "optional").await, "orders");
}

/// Checks that the call and the build name the pointer around the state, and how to add it.
async fn advises(tool: &FunctionTool, registry: ToolRegistry, pointer: &str, advice: &str) {
    let called =
        registry.call(tool.definition().name.as_str(), "{}").await.expect_err("the state is in a pointer");
    assert!(called.details().is_some_and(|details| details.contains(advice)), "{called:?}");
    let error = Dispatcher::new(registry).expect_err("the state is in a pointer").to_string();
    assert!(error.contains(advice) && error.contains(&format!("has `{pointer}<")), "{error}");
}

#[tokio::test]
async fn state_within_a_pointer_names_the_method_for_it() {
    for tool in [of_users::tool(), optional::tool()] {
        let tools = || ToolRegistry::from_tools([tool.clone()]).expect("one tool");
        for (registry, pointer, advice) in [
            (
                tools().with_state(Arc::new(Db("users"))),
                "Arc",
                "add the `Arc` with `registry.with_shared_state(…)`",
            ),
            (tools().with_state(Box::new(Db("users"))), "Box", "add the value without the `Box`"),
        ] {
            advises(&tool, registry.clone(), pointer, advice).await;
            advises(&tool, merged(ToolRegistry::new(), registry.clone()), pointer, advice).await;
            advises(&tool, merged(ToolRegistry::new().with_state(Limit), registry), pointer, advice).await;
        }
    }
}

#[tokio::test]
async fn a_merged_tool_keeps_no_state_of_a_run() {
    for library in [
        ToolRegistry::from_tools(tools![of_orders]).expect("one tool").with_state(Limit),
        ToolRegistry::from_tools(tools![optional]).expect("one tool").with_state(Db("library")),
    ] {
        let name = library.names().next().expect("one tool").to_owned();
        let program = ToolRegistry::new().with_run_state::<Arc<()>>().with_run_state::<Db>();
        let merged = merged(program, library);
        let dispatcher = Dispatcher::new(merged).expect("complete");
        let of_user = Arc::new(());
        for value in ["a", "b", "c"] {
            let run = RunContext::new().with_state(Db(value)).with_state(of_user.clone());
            let results =
                dispatcher.clone().with_run(run).dispatch([ToolCall::new("1", name.as_str(), "{}")]).await;
            assert_eq!(results[0].to_text(), value);
        }
        assert_eq!(Arc::strong_count(&of_user), 1, "the state ends with its run");
    }
}
