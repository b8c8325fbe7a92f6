//! State in merged registries: every tool sees the state of its original registry.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::runtime::Builder;
use toolkit::prelude::*;
use toolkit::registry::Collision;
use toolkit::{AdaptedTool, ClosureTool, FunctionTool, LiveRegistry, RegistryView, RunContext, ToolName};

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
    let merged = orders() + without;
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
    // The state is added after the merge.
    let mut merged = ToolRegistry::from_tools(tools![of_orders]).expect("one tool");
    merged.merge(users()).expect("no collision");
    let error = Dispatcher::new(merged.clone()).expect_err("the state of `users` is not for `of_orders`");
    assert!(error.to_string().contains("tool `of_orders`"), "{error}");
    let merged = merged.with_state(Db("orders"));
    assert_eq!(called(&merged, "of_orders").await, "orders");
    assert_eq!(called(&merged, "of_users").await, "users");

    // A library with state of its own sees no optional state of the program, and one without state does.
    let with_state = ToolRegistry::from_tools(tools![optional]).expect("one tool").with_state(Limit);
    assert_eq!(called(&(orders() + with_state), "optional").await, "none");
    let without = ToolRegistry::from_tools(tools![optional]).expect("one tool");
    assert_eq!(called(&(orders() + without), "optional").await, "orders");
}

/// Checks that the call of `tool` and the build name the pointer around the state, and the way to add the state.
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
            advises(&tool, ToolRegistry::new() + registry.clone(), pointer, advice).await;
            advises(&tool, ToolRegistry::new().with_state(Limit) + registry, pointer, advice).await;
        }
    }
}

/// State of one of three types.
struct Slot<const TYPE: usize>(u32);

type Env = BTreeMap<usize, u32>;

/// Reads a required state.
#[tool(register = false)]
fn required_0(#[state] slot: &Slot<0>) -> u32 {
    slot.0
}

/// Reads a required state.
#[tool(register = false)]
fn required_1(#[state] slot: &Slot<1>) -> u32 {
    slot.0
}

/// Reads an optional state.
#[tool(register = false)]
fn optional_0(#[state] slot: Option<&Slot<0>>) -> Option<u32> {
    slot.map(|slot| slot.0)
}

/// One of the tools that read state, under another name.
fn reader(type_number: usize, is_required: bool, name: &str) -> AdaptedTool {
    let tool: Arc<dyn Tool> = match (type_number, is_required) {
        (0, true) => Arc::new(required_0::tool()),
        (_, true) => Arc::new(required_1::tool()),
        (0, false) => Arc::new(optional_0::tool()),
        (_, false) => {
            #[derive(serde::Deserialize, toolkit::schemars::JsonSchema)]
            struct Nothing {}

            let tool = ClosureTool::with_context("read", "Reads.", |_: Nothing, context: ToolContext| {
                context.state::<Slot<1>>().map(|slot| slot.0)
            });
            Arc::new(tool.expect("an object"))
        }
    };
    AdaptedTool::of(tool).with_name(ToolName::new(name).expect("legal"))
}

/// A step of a program that builds registries.
#[derive(Debug, Clone)]
enum Step {
    State {
        registry: usize,
        type_number: usize,
        value: u32,
    },
    Register {
        registry: usize,
        type_number: usize,
        is_required: bool,
    },
    /// Declares that each run adds a state.
    Declare {
        registry: usize,
        type_number: usize,
    },
    /// Merges another registry, which is empty afterwards.
    Merge {
        into: usize,
        offset: usize,
        how: u8,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let registry = 0_usize..3;
    let type_number = 0_usize..2;
    prop_oneof![
        (registry.clone(), type_number.clone(), 0_u32..1_000)
            .prop_map(|(registry, type_number, value)| Step::State { registry, type_number, value }),
        (registry.clone(), type_number.clone(), any::<bool>()).prop_map(
            |(registry, type_number, is_required)| { Step::Register { registry, type_number, is_required } }
        ),
        (registry.clone(), type_number)
            .prop_map(|(registry, type_number)| Step::Declare { registry, type_number }),
        (registry, 1_usize..3, 0_u8..4).prop_map(|(into, offset, how)| Step::Merge { into, offset, how }),
    ]
}

/// A tool, and the state of each registry with which it was merged into another one, innermost first.
struct Reader {
    type_number: usize,
    is_required: bool,
    came_with: Vec<Env>,
}

/// A registry, and what is expected of it.
#[derive(Default)]
struct Model {
    registry: ToolRegistry,
    state: Env,
    declared: BTreeSet<usize>,
    readers: BTreeMap<String, Reader>,
}

impl Model {
    fn declare(&mut self, type_number: usize) {
        let registry = std::mem::take(&mut self.registry);
        self.registry = match type_number {
            0 => registry.with_run_state::<Slot<0>>(),
            _ => registry.with_run_state::<Slot<1>>(),
        };
        self.declared.insert(type_number);
    }

    fn add_state(&mut self, type_number: usize, value: u32) {
        let registry = std::mem::take(&mut self.registry);
        self.registry = match type_number {
            0 => registry.with_state(Slot::<0>(value)),
            _ => registry.with_state(Slot::<1>(value)),
        };
        self.state.insert(type_number, value);
    }

    fn merge(&mut self, other: Self, how: u8) {
        match how {
            0 => self.registry.merge(other.registry).expect("no collision"),
            1 => self.registry.merge_with(other.registry, Collision::Replace).expect("no collision"),
            2 => self.registry += other.registry,
            _ => match LiveRegistry::new(self.registry.clone()) {
                Ok(live) => {
                    // The change is refused if state is missing.
                    let merge = |registry: &mut ToolRegistry| registry.merge(other.registry.clone());
                    match live.change(merge) {
                        Ok(()) => self.registry = ToolRegistry::clone(&live.snapshot()),
                        Err(_) => self.registry.merge(other.registry).expect("no collision"),
                    }
                }
                Err(_) => self.registry += other.registry,
            },
        }
        self.declared.extend(other.declared);
        for (name, mut reader) in other.readers {
            if !other.state.is_empty() {
                reader.came_with.push(other.state.clone());
            }
            self.readers.insert(name, reader);
        }
    }

    /// Returns the value that the tool must see in a call with the state `run`.
    fn expected(&self, reader: &Reader, run: &Env) -> Option<u32> {
        if let Some(value) = run.get(&reader.type_number) {
            return Some(*value);
        }
        let mut own = reader.came_with.iter().chain([&self.state]);
        if reader.is_required {
            own.find_map(|env| env.get(&reader.type_number)).copied()
        } else {
            own.next()?.get(&reader.type_number).copied()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_tool_sees_the_state_of_the_run_or_the_state_that_it_came_with_in_any_order_of_steps(
        steps in proptest::collection::vec(step(), 1..14),
        is_viewed in any::<bool>(),
        runs in proptest::collection::vec(proptest::collection::btree_map(0_usize..2, 1_000_u32..2_000, 0..3), 0..3),
    ) {
        let mut models: [Model; 3] = Default::default();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::State { registry, type_number, value } => models[registry].add_state(type_number, value),
                Step::Declare { registry, type_number } => models[registry].declare(type_number),
                Step::Register { registry, type_number, is_required } => {
                    let name = format!("tool_{number}");
                    models[registry].registry.register(reader(type_number, is_required, &name)).expect("a new name");
                    models[registry].readers.insert(name, Reader { type_number, is_required, came_with: Vec::new() });
                }
                Step::Merge { into, offset, how } => {
                    let other = std::mem::take(&mut models[(into + offset) % 3]);
                    models[into].merge(other, how);
                }
            }
        }
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        for model in &models {
            let mut registry = model.registry.clone();
            if is_viewed {
                let view = RegistryView::new().map_metadata(|_, metadata| metadata.with_title("Viewed"));
                registry = registry.viewed(&view).expect("possible");
            }
            let no_run = Env::new();
            let is_complete = model.readers.values().all(|reader| {
                let is_declared = model.declared.contains(&reader.type_number);
                !reader.is_required || is_declared || model.expected(reader, &no_run).is_some()
            });
            let dispatcher = Dispatcher::new(registry.clone());
            prop_assert_eq!(dispatcher.is_ok(), is_complete);
            for (name, reader) in &model.readers {
                let check = |run: &Env, text: String| {
                    match model.expected(reader, run) {
                        Some(value) => prop_assert_eq!(text, value.to_string(), "{} {:?}", name, run),
                        None if reader.is_required => prop_assert!(text.contains("the program lends no"), "{}", text),
                        None => prop_assert_eq!(text, "null", "{} {:?}", name, run),
                    }
                    Ok(())
                };
                check(&no_run, runtime.block_on(called(&registry, name)))?;
                let Ok(dispatcher) = &dispatcher else { continue };
                for env in &runs {
                    let dispatcher = dispatcher.clone().with_run(run(env));
                    let results = runtime.block_on(dispatcher.dispatch([ToolCall::new("1", name.as_str(), "{}")]));
                    check(env, results[0].to_text().into_owned())?;
                }
            }
        }
    }
}

fn run(env: &Env) -> RunContext {
    env.iter().fold(RunContext::new(), |run, (type_number, value)| match type_number {
        0 => run.with_state(Slot::<0>(*value)),
        _ => run.with_state(Slot::<1>(*value)),
    })
}

#[tokio::test]
async fn a_merged_tool_keeps_no_state_of_a_run() {
    for library in [
        ToolRegistry::from_tools(tools![required_0]).expect("one tool").with_state(Limit),
        ToolRegistry::from_tools(tools![optional_0]).expect("one tool").with_state(Slot::<0>(1)),
    ] {
        let name = library.names().next().expect("one tool").to_owned();
        let merged = ToolRegistry::new().with_run_state::<Arc<()>>().with_run_state::<Slot<0>>() + library;
        let dispatcher = Dispatcher::new(merged).expect("complete");
        let of_user = Arc::new(());
        for value in 1..4 {
            let run = RunContext::new().with_state(Slot::<0>(value)).with_state(of_user.clone());
            let results =
                dispatcher.clone().with_run(run).dispatch([ToolCall::new("1", name.as_str(), "{}")]).await;
            assert_eq!(results[0].to_text(), value.to_string());
        }
        assert_eq!(Arc::strong_count(&of_user), 1, "the state ends with its run");
    }
}
