//! State for tools, and tools that are methods of a value.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use toolkit_ai::name::Separator;
use toolkit_ai::prelude::*;

struct Db(&'static str);

trait Store: Send + Sync {
    fn name(&self) -> String;
}

impl Store for Db {
    fn name(&self) -> String {
        format!("store {}", self.0)
    }
}

/// Looks something up.
///
/// :param key: The key
/// :param db: Documented, and not shown to the model
#[tool(namespace = "stateful", register = false)]
fn look_up(
    key: String,
    #[state] db: &Db,
    #[state] store: &dyn Store,
    #[state] log: Arc<Mutex<Vec<String>>>,
    #[state] missing: Option<&u16>,
    #[state] missing_too: Option<Arc<u32>>,
    context: &ToolContext,
) -> String {
    log.lock().unwrap().push(key.clone());
    format!(
        "{key} in {} and {}, {missing:?} {missing_too:?} {}",
        db.0,
        store.name(),
        context.state::<Db>().is_some()
    )
}

/// The same, and not at once.
#[tool(namespace = "stateful", register = false)]
async fn look_up_later(#[state] db: &Db, key: &str) -> String {
    tokio::task::yield_now().await;
    format!("{key} in {}", db.0)
}

struct Calculator {
    memory: AtomicI64,
}

/// Calculates, and remembers.
#[toolset]
impl Calculator {
    const START: i64 = 40;

    fn new() -> Arc<Self> {
        Arc::new(Self { memory: AtomicI64::new(Self::START) })
    }

    /// Adds to the memory.
    ///
    /// Args:
    ///     n: How much
    #[tool(idempotent = false)]
    fn add(&self, #[param(default = 1, range = 0..=10)] n: i64) -> i64 {
        self.memory.fetch_add(n, Ordering::SeqCst) + n
    }

    /// Reads the memory.
    #[toolkit_ai::tool(name = "recall", read_only)]
    async fn read(&self, context: &ToolContext) -> String {
        tokio::task::yield_now().await;
        format!("{} {}", context.tool_name(), self.memory.load(Ordering::SeqCst))
    }

    /// Needs no value.
    #[tool(namespace = "elsewhere")]
    fn double(n: i64) -> i64 {
        n * 2
    }
}

#[derive(Debug, Clone, toolkit_ai::serde::Serialize, ToolParams)]
struct Vector {
    parts: [i64; Self::SIZE],
}

#[toolset]
impl Vector {
    const SIZE: usize = 2;

    /// `Self` everywhere that it may stand.
    #[tool]
    fn plus(
        &self,
        other: &Self,
        #[param(default = Self { parts: [0; Self::SIZE] })] third: Self,
        few: Option<&[i64; Self::SIZE]>,
        #[state] state: Option<&Self>,
    ) -> Vec<Self> {
        let few = few.map(|parts| Self { parts: *parts });
        [self, other, &third].into_iter().chain(&few).chain(state).cloned().collect()
    }
}

#[tokio::test]
async fn self_is_the_type_of_the_toolset() {
    let mut registry = ToolRegistry::new();
    registry.register_all(Arc::new(Vector { parts: [1, 2] })).expect("no collisions");
    let arguments = r#"{"other": {"parts": [3, 4]}, "few": [5, 6]}"#;
    let output = registry.call("vector-plus", arguments).await.expect("it is called");
    assert_eq!(output.to_text(), r#"[{"parts":[1,2]},{"parts":[3,4]},{"parts":[0,0]},{"parts":[5,6]}]"#);
}

#[tokio::test]
async fn states_are_found_by_type_and_never_shown() {
    let log = Arc::new(Mutex::new(Vec::<String>::new()));
    let store: Arc<dyn Store> = Arc::new(Db("b"));
    let registry = ToolRegistry::from_tools(tools![look_up, look_up_later])
        .expect("no collisions")
        .with_state(Db("a"))
        .with_shared_state(store)
        .with_shared_state(log.clone());
    let parameters = &registry.get("stateful-look_up").expect("it is there").definition().parameters;
    assert_eq!(parameters["properties"].as_object().map(serde_json::Map::len), Some(1));
    let dispatcher = Dispatcher::new(registry).expect("all states are there");
    let calls = [
        ToolCall::new("1", "stateful-look_up", r#"{"key": "x"}"#),
        ToolCall::new("2", "stateful-look_up_later", r#"{"key": "y"}"#),
    ];
    let results = dispatcher.dispatch(calls).await;
    let texts: Vec<_> =
        results.iter().map(|result| result.outcome.as_ref().expect("it returns").to_text()).collect();
    assert_eq!(texts, ["x in a and store b, None None true", "y in a"]);
    assert_eq!(*log.lock().unwrap(), ["x"]);
}

#[tokio::test]
async fn missing_states_are_all_reported_before_the_program_serves() {
    let registry =
        ToolRegistry::from_tools(tools![look_up, look_up_later]).expect("no collisions").with_state(Db("a"));
    let answer = registry.call("stateful-look_up", r#"{"key": "x"}"#).await.expect_err("it cannot run");
    assert!(answer.message().contains("the program lends no `dyn it::state::Store`"), "{answer}");
    let error = Dispatcher::new(registry).expect_err("two states are missing");
    let text = error.to_string();
    assert_eq!(error.problems().len(), 2, "{text}");
    assert!(text.contains(&format!("tool `stateful-look_up` (defined at {}:", file!())), "{text}");
    assert!(
        text.contains("needs state of type `dyn it::state::Store`; add it with `registry.with_state(…)`"),
        "{text}"
    );
}

#[tokio::test]
async fn methods_are_tools_of_their_value() {
    let calculator = Calculator::new();
    assert_eq!(calculator.description(), "Calculates, and remembers.");
    let mut registry = ToolRegistry::new();
    registry.register_all(calculator.clone()).expect("no collisions");
    let names: Vec<&str> = registry.iter_definitions().map(|definition| definition.name.as_str()).collect();
    assert_eq!(names, ["calculator-add", "calculator-recall", "elsewhere-double"]);

    assert_eq!(registry.call("calculator-add", "{}").await.expect("it adds").to_text(), "41");
    assert!(registry.call("calculator-add", r#"{"n": 11}"#).await.is_err());
    assert_eq!(
        registry.call("calculator-recall", "").await.expect("it reads").to_text(),
        "calculator-recall 41"
    );
    assert_eq!(registry.call("elsewhere-double", r#"{"n": 4}"#).await.expect("it doubles").to_text(), "8");
    assert_eq!(calculator.add(2), 43, "the method is still a method");

    let mut other = ToolRegistry::from_tools(Calculator::new().tools()).expect("no collisions");
    other.update_namespace("second", true, Separator::Dash).expect("legal");
    registry.merge(other).expect("no collisions");
    assert_eq!(registry.call("second-add", "{}").await.expect("it adds").to_text(), "41");
    assert_eq!(registry.call("calculator-add", "{}").await.expect("it adds").to_text(), "44");
}

#[test]
fn a_toolset_registered_twice_collides() {
    let mut registry = ToolRegistry::new();
    registry.register_all(Calculator::new()).expect("no collisions");
    let error = registry.register_all(Calculator::new()).expect_err("the names are taken");
    assert_eq!(error.problems().len(), 3);
    assert_eq!(registry.len(), 3);
}
