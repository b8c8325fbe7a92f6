//! Toolsets of generic types, traits and shared receivers.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use toolkit_ai::schemars::JsonSchema;
use toolkit_ai::serde::Serialize;
use toolkit_ai::serde::de::DeserializeOwned;
use toolkit_ai::{Tool, ToolContext, ToolParams, ToolRegistry, Toolset, tool, tools, toolset};

trait Store: Send + Sync {
    type Row: DeserializeOwned + Serialize + JsonSchema + Clone + Default + Send + Sync;

    fn rows(&self) -> Vec<Self::Row>;
}

#[derive(Debug, Clone, Default, PartialEq, toolkit_ai::serde::Serialize, ToolParams)]
#[serde(crate = "toolkit_ai::serde")]
struct Person {
    name: String,
}

struct People;

impl Store for People {
    type Row = Person;

    fn rows(&self) -> Vec<Person> {
        vec![Person { name: "Ada".to_owned() }]
    }
}

struct Numbers(Vec<i64>);

impl Store for Numbers {
    type Row = i64;

    fn rows(&self) -> Vec<i64> {
        self.0.clone()
    }
}

struct Desk<T, const FEW: usize> {
    store: T,
}

/// Shows rows.
#[toolset(namespace = "desk")]
impl<T: Store, const FEW: usize> Desk<T, FEW> {
    /// Reads the first rows.
    #[tool]
    fn first(&self, #[param(default = FEW, range = 1..=9)] count: usize) -> Vec<T::Row> {
        self.store.rows().into_iter().take(count).collect()
    }

    /// Adds a row to the rows.
    #[tool]
    async fn with(
        self: Arc<Self>,
        row: T::Row,
        #[param(default)] second: T::Row,
        #[param(length = ..3)] more: Option<&[T::Row]>,
        #[state] other: Option<&Self>,
        context: &ToolContext,
    ) -> String {
        tokio::task::yield_now().await;
        let rows: Vec<T::Row> = [row, second].into_iter().chain(more.unwrap_or_default().to_vec()).collect();
        let rows = serde_json::to_string(&rows).unwrap();
        format!("{} {rows} {} {}", context.tool_name(), self.store.rows().len(), other.is_some())
    }
}

fn registry_of(toolset: impl Toolset) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    registry.register_all(Arc::new(toolset)).expect("no collisions");
    registry
}

#[tokio::test]
async fn a_generic_type_has_the_schemas_of_its_arguments() {
    let people = registry_of(Desk::<_, 2> { store: People });
    let numbers = registry_of(Desk::<_, 1> { store: Numbers(vec![7, 8, 9]) });
    let schema = |registry: &ToolRegistry, tool: &str, param: &str| {
        registry.get(tool).expect("it is there").definition().parameters["properties"][param].clone()
    };
    assert_eq!(schema(&people, "desk-with", "row")["type"], "object");
    assert_eq!(schema(&numbers, "desk-with", "row")["type"], "integer");
    assert_eq!(schema(&people, "desk-first", "count")["default"], 2);
    assert_eq!(schema(&numbers, "desk-first", "count")["default"], 1);

    for (registry, tool, arguments, expected) in [
        (&people, "desk-first", "{}", r#"[{"name":"Ada"}]"#),
        (&numbers, "desk-first", "{}", "[7]"),
        (&numbers, "desk-first", r#"{"count": 2}"#, "[7,8]"),
        (
            &people,
            "desk-with",
            r#"{"row": {"name": "Bo"}}"#,
            r#"desk-with [{"name":"Bo"},{"name":""}] 1 false"#,
        ),
        (&numbers, "desk-with", r#"{"row": 1, "more": [2]}"#, "desk-with [1,0,2] 3 false"),
    ] {
        let output = registry.call(tool, arguments).await.expect("it is called");
        assert_eq!(output.to_text(), expected);
    }
    assert!(numbers.call("desk-first", r#"{"count": 10}"#).await.is_err());
    assert!(numbers.call("desk-with", r#"{"row": 1, "more": [2, 3, 4, 5]}"#).await.is_err());
}

struct Memory {
    entries: Mutex<BTreeMap<String, i64>>,
}

trait Notes<K> {
    type Value: Debug;
    const LIMIT: usize;

    fn put(&self, key: K, value: Self::Value) -> Option<Self::Value>;

    async fn count(&self, limit: usize) -> usize;

    fn keys(self: Arc<Self>) -> Vec<K>;

    fn kind() -> &'static str;
}

/// Notes.
#[toolset]
impl Notes<String> for Memory {
    type Value = i64;
    const LIMIT: usize = 1;

    /// Writes a note.
    #[tool]
    fn put(&self, key: String, value: Self::Value) -> Option<Self::Value> {
        self.entries.lock().unwrap().insert(key, value)
    }

    /// Counts the notes.
    #[tool]
    async fn count(&self, #[param(default = Self::LIMIT)] limit: usize) -> usize {
        tokio::task::yield_now().await;
        self.entries.lock().unwrap().len().min(limit)
    }

    /// Lists the keys.
    #[tool]
    fn keys(self: Arc<Self>) -> Vec<String> {
        self.entries.lock().unwrap().keys().cloned().collect()
    }

    /// Needs no value.
    #[tool]
    fn kind() -> &'static str {
        "notes"
    }
}

/// A tool of the type itself.
#[toolset(extends)]
impl Memory {
    /// Forgets all.
    #[tool]
    fn clear(&self) {
        self.entries.lock().unwrap().clear();
    }
}

/// The trait is not in scope at the calls.
mod elsewhere {
    pub(super) trait Greet {
        fn greet(&self, name: &str) -> String;
    }

    pub(super) struct Host;
}

#[toolset]
impl elsewhere::Greet for elsewhere::Host {
    #[tool]
    fn greet(&self, name: &str) -> String {
        format!("Hello {name}")
    }
}

struct Named<T>(T);

#[toolset(namespace = "named")]
impl<T> elsewhere::Greet for Named<T>
where
    T: Debug + Send + Sync,
{
    #[tool]
    fn greet(&self, name: &str) -> String {
        format!("{:?} greets {name}", self.0)
    }
}

#[tokio::test]
async fn methods_of_traits_are_tools() {
    let registry = registry_of(Memory { entries: Mutex::default() });
    let names: Vec<&str> = registry.iter_definitions().map(|definition| definition.name.as_str()).collect();
    assert_eq!(names, ["memory-clear", "memory-count", "memory-keys", "memory-kind", "memory-put"]);
    for (tool, arguments, expected) in [
        ("memory-put", r#"{"key": "a", "value": 1}"#, "null"),
        ("memory-put", r#"{"key": "a", "value": 2}"#, "1"),
        ("memory-put", r#"{"key": "b", "value": 2}"#, "null"),
        ("memory-count", "{}", "1"),
        ("memory-count", r#"{"limit": 5}"#, "2"),
        ("memory-keys", "{}", r#"["a","b"]"#),
        ("memory-kind", "{}", "notes"),
    ] {
        let output = registry.call(tool, arguments).await.expect("it is called");
        assert_eq!(output.to_text(), expected, "{tool} {arguments}");
    }
    registry.call("memory-clear", "{}").await.expect("it clears");
    assert_eq!(registry.call("memory-count", "{}").await.expect("it counts").to_text(), "0");

    let greeting = registry_of(elsewhere::Host).call("host-greet", r#"{"name": "Ada"}"#).await;
    assert_eq!(greeting.expect("it greets").to_text(), "Hello Ada");
    let greeting = registry_of(Named(7)).call("named-greet", r#"{"name": "Ada"}"#).await;
    assert_eq!(greeting.expect("it greets").to_text(), "7 greets Ada");
}

struct ByHand(Arc<dyn Tool>);

impl Toolset for ByHand {
    fn description(&self) -> &'static str {
        "By hand."
    }

    fn tools(self: Arc<Self>) -> Vec<Arc<dyn Tool>> {
        vec![self.0.clone()]
    }
}

#[test]
fn the_trait_can_be_implemented_by_hand() {
    let tool = Arc::new(elsewhere::Host).tools().remove(0);
    assert_eq!(registry_of(ByHand(tool)).len(), 1);
}

struct Conditional;

#[toolset]
impl Conditional {
    #[cfg_attr(all(), tool(name = "on"))]
    fn switched_on(&self, #[param(default = 1)] value: i64) -> i64 {
        value
    }

    #[cfg_attr(any(), tool)]
    #[allow(dead_code)]
    fn switched_off(&self) {}

    #[tool]
    #[cfg(any())]
    fn left_out(&self) -> Missing {}
}

#[test]
fn a_method_may_be_a_tool_under_a_condition() {
    let registry = registry_of(Conditional);
    let names: Vec<&str> = registry.iter_definitions().map(|definition| definition.name.as_str()).collect();
    assert_eq!(names, ["conditional-on"]);
}

#[tool(namespace = "defaults", register = false)]
fn optional_texts(
    #[param(default = "a")] text: Option<&str>,
    #[param(default = "b")] owned: Option<String>,
) -> String {
    format!("{text:?} {owned:?}")
}

#[tokio::test]
async fn a_string_is_the_default_of_an_optional_text() {
    let registry = ToolRegistry::from_tools(tools![optional_texts]).expect("no collisions");
    let schema = &registry.get("defaults-optional_texts").expect("it is there").definition().parameters;
    assert_eq!(schema["properties"]["text"]["default"], "a");
    let output = registry.call("defaults-optional_texts", r#"{"owned": "c"}"#).await.expect("it is called");
    assert_eq!(output.to_text(), r#"Some("a") Some("c")"#);
}

#[tool(register = false)]
fn takes_number(#[param(flatten)] number: i64) -> i64 {
    number
}

#[test]
fn arguments_that_are_no_object_are_a_build_error() {
    let error = ToolRegistry::from_tools(tools![takes_number]).expect_err("a number has no fields");
    let expected = "arguments are an object, but this type is \"integer\"; with `flatten`, the type is a struct or a map";
    assert!(error.to_string().contains(expected), "{error}");
}

/// A field of a generic type may have constraints.
#[derive(ToolParams)]
struct Batch<T> {
    #[param(length = 1..=2)]
    items: Vec<T>,
}

#[tool(namespace = "generic", register = false)]
fn take_batch(batch: Batch<i64>) -> usize {
    batch.items.len()
}

#[tokio::test]
async fn fields_of_generic_types_have_constraints() {
    let registry = ToolRegistry::from_tools(tools![take_batch]).expect("no collisions");
    let output =
        registry.call("generic-take_batch", r#"{"batch": {"items": [1]}}"#).await.expect("it is called");
    assert_eq!(output.to_text(), "1");
    assert!(registry.call("generic-take_batch", r#"{"batch": {"items": []}}"#).await.is_err());
}

struct Counter(i64);

/// Counts.
#[toolset(namespace = none)]
impl Counter {
    /// Returns the count.
    #[tool]
    fn count(&self) -> i64 {
        self.0
    }

    /// Returns the next count.
    #[tool(namespace = "counter")]
    fn next(&self) -> i64 {
        self.0 + 1
    }
}

#[tokio::test]
async fn two_values_of_one_type_have_their_own_namespaces_or_none() {
    let mut registry = ToolRegistry::new();
    registry.register_all(Arc::new(Counter(1))).unwrap();
    registry.register_all_in("two", Arc::new(Counter(2))).unwrap();
    assert_eq!(registry.names().collect::<Vec<_>>(), ["count", "counter-next", "two-count", "two-next"]);
    assert_eq!(registry.call("count", "{}").await.unwrap().to_text(), "1");
    assert_eq!(registry.call("two-count", "{}").await.unwrap().to_text(), "2");
    let error = registry.register_all_in("two", Arc::new(Counter(3))).unwrap_err();
    assert_eq!((error.problems().len(), registry.len()), (2, 4));
}

#[tokio::test]
async fn a_toolset_is_a_source_of_tools() {
    let dispatcher = toolkit_ai::Dispatcher::new(Arc::new(Counter(1))).unwrap();
    assert_eq!(dispatcher.call("counter-next", "{}").await.unwrap().to_text(), "2");
}
