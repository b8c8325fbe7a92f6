//! State in merged registries: every tool sees the state of its original registry.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::runtime::Builder;
use toolkit::prelude::*;
use toolkit::registry::Collision;
use toolkit::{ClosureTool, LiveRegistry, RegistryView};

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
    let view = live.viewed(RegistryView::new().rename("of_users", "people")).expect("possible");
    assert_eq!(called(&view.snapshot(), "people").await, "users");
}

#[tokio::test]
async fn state_of_one_registry_serves_the_tools_of_the_other() {
    let without = ToolRegistry::from_tools(tools![of_users]).expect("one tool");
    let merged = orders() + without;
    assert_eq!(called(&merged, "of_users").await, "orders");
    assert!(Dispatcher::new(merged).is_ok());
}

#[test]
fn state_within_an_arc_names_the_method_for_it() {
    let registry =
        ToolRegistry::from_tools(tools![of_users]).expect("one tool").with_state(Arc::new(Db("users")));
    let error = Dispatcher::new(registry).expect_err("the state is missing").to_string();
    assert!(error.contains("add the `Arc` with `registry.with_shared_state(…)`"), "{error}");
}

/// State of one of three types.
struct Slot<const TYPE: usize>(u32);

type Env = BTreeMap<usize, u32>;

/// A registry, and the state that each of its tools must see.
struct Merged {
    registry: ToolRegistry,
    state: Env,
    tools: BTreeMap<String, Env>,
}

/// A registry with three tools, each of which reads one type of state.
fn part(number: usize, state: &Env) -> Merged {
    fn read<const TYPE: usize>(number: usize) -> ClosureTool {
        let name = format!("tool{number}_{TYPE}");
        let tool = ClosureTool::with_context(&name, "Reads.", |_: Nothing, context: ToolContext| {
            context.state::<Slot<TYPE>>().map(|slot| slot.0)
        });
        tool.expect("an object")
    }
    #[derive(serde::Deserialize, toolkit::schemars::JsonSchema)]
    struct Nothing {}

    let tools = [read::<0>(number), read::<1>(number), read::<2>(number)];
    let names = tools.iter().map(|tool| tool.definition().name.to_string());
    let tools_see = names.map(|name| (name, state.clone())).collect();
    let mut registry = ToolRegistry::from_tools(tools.clone()).expect("three tools");
    for (kind, value) in state {
        registry = match kind {
            0 => registry.with_state(Slot::<0>(*value)),
            1 => registry.with_state(Slot::<1>(*value)),
            _ => registry.with_state(Slot::<2>(*value)),
        };
    }
    Merged { registry, state: state.clone(), tools: tools_see }
}

fn or(mut own: Env, other: &Env) -> Env {
    other.iter().for_each(|(kind, value)| {
        own.entry(*kind).or_insert(*value);
    });
    own
}

/// The expected state after a merge: first the state that a tool saw before, then the state of the other
/// registry.
fn merge(a: Merged, b: Merged, how: u8) -> Merged {
    let mut registry = a.registry;
    match how {
        0 => registry.merge(b.registry).expect("no collision"),
        1 => registry.merge_with(b.registry, Collision::Replace).expect("no collision"),
        2 => registry += b.registry,
        _ => {
            let live = LiveRegistry::new(registry).expect("complete");
            live.change(|registry| registry.merge(b.registry)).expect("no collision");
            registry = ToolRegistry::clone(&live.snapshot());
        }
    }
    let of_a = a.tools.into_iter().map(|(name, env)| (name, or(env, &b.state)));
    let of_b = b.tools.into_iter().map(|(name, env)| (name, or(env, &a.state)));
    Merged { registry, tools: of_a.chain(of_b).collect(), state: or(a.state, &b.state) }
}

proptest! {
    #[test]
    fn every_tool_of_any_merge_sees_its_own_state_first(
        states in proptest::collection::vec(proptest::collection::btree_map(0_usize..3, 0_u32..1_000, 0..4), 3),
        order in any::<bool>(),
        how in (0_u8..4, 0_u8..4),
        is_viewed in any::<bool>(),
    ) {
        let mut parts = states.iter().enumerate().map(|(number, state)| part(number, state));
        let (Some(a), Some(b), Some(c)) = (parts.next(), parts.next(), parts.next()) else { unreachable!() };
        let merged = match order {
            true => merge(merge(a, b, how.0), c, how.1),
            false => merge(a, merge(b, c, how.0), how.1),
        };
        let mut registry = merged.registry;
        if is_viewed {
            let view = RegistryView::new().map_metadata(|_, metadata| metadata.with_title("Viewed"));
            registry = registry.viewed(&view).expect("possible");
        }
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        for (name, env) in &merged.tools {
            let kind: usize = name[name.len() - 1..].parse().expect("a digit");
            let expected = env.get(&kind).map_or("null".to_owned(), u32::to_string);
            prop_assert_eq!(runtime.block_on(called(&registry, name)), expected, "{}", name);
        }
    }
}
