//! The same calls by hand: the floor.

use super::tools::{self, Address, Item, Priority};
use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;
use toolkit_ai::schemars::{self, JsonSchema, schema_for};
use toolkit_ai::serde::{self, Deserialize};
use toolkit_ai::serde_json::{self, json};

pub(crate) type Outcome = serde_json::Result<String>;
pub(crate) type Started<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;
pub(crate) type Start = fn(&str) -> Started<'_>;
pub(crate) type Map = HashMap<String, Start>;

/// The arguments of A.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "self::serde")]
pub(crate) struct Add {
    a: i64,
    b: i64,
}

/// The arguments of B.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "self::serde")]
pub(crate) struct SearchWeb {
    query: String,
    max_results: Option<u32>,
}

/// The arguments of C.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "self::serde")]
pub(crate) struct CreateOrder {
    customer: String,
    email: String,
    priority: Priority,
    items: Vec<Item>,
    shipping: Address,
    tags: Vec<String>,
    note: Option<String>,
    express: bool,
    discount: f64,
    placed_at: u64,
}

/// The arguments of a tool with one list.
#[derive(Debug, Deserialize)]
#[serde(crate = "self::serde")]
struct CountItems {
    items: Vec<Item>,
}

fn add(text: &str) -> Outcome {
    let Add { a, b } = serde_json::from_str(text)?;
    serde_json::to_string(&tools::add(a, b))
}

fn search_web(text: &str) -> Outcome {
    let SearchWeb { query, max_results } = serde_json::from_str(text)?;
    serde_json::to_string(&tools::search_web(query, max_results))
}

fn create_order(text: &str) -> Outcome {
    let order: CreateOrder = serde_json::from_str(text)?;
    serde_json::to_string(&summary(order))
}

fn summary(order: CreateOrder) -> tools::Summary {
    tools::create_order(
        order.customer,
        order.email,
        order.priority,
        order.items,
        order.shipping,
        order.tags,
        order.note,
        order.express,
        order.discount,
        order.placed_at,
    )
}

fn count_items(text: &str) -> Outcome {
    let CountItems { items } = serde_json::from_str(text)?;
    serde_json::to_string(&tools::count_items(items))
}

/// The definitions of A, B and C in turn, with `schemars`' schemas.
pub(crate) fn definitions(count: usize) -> String {
    let definition = |index: usize| {
        let (description, schema) = match index % 3 {
            0 => ("Add two integers.", schema_for!(Add)),
            1 => ("Search the web and return URLs.", schema_for!(SearchWeb)),
            _ => ("Create an order.", schema_for!(CreateOrder)),
        };
        let function =
            json!({"name": format!("tool_{index}"), "description": description, "parameters": schema});
        json!({"type": "function", "function": function}).to_string()
    };
    format!("[{}]", (0..count).map(definition).collect::<Vec<_>>().join(","))
}

/// A tool whose arguments have no Rust type.
fn foreign_order(text: &str) -> Outcome {
    let order: serde_json::Value = serde_json::from_str(text)?;
    tools::customer_of(&order)
}

#[inline]
pub(crate) fn by_match(tool: &str, text: &str) -> Outcome {
    match tool {
        "add" => add(text),
        "search_web" => search_web(text),
        "create_order" | "create_struct" => create_order(text),
        "count_items" => count_items(text),
        "foreign_order" => foreign_order(text),
        _ => Err(serde::de::Error::custom("no such tool")),
    }
}

/// The least for tools that are chosen at run time and wait.
pub(crate) fn map() -> Map {
    let tools: [(&str, Start); 6] = [
        ("add", |text| Box::pin(async move { add(text) })),
        ("search_web", |text| Box::pin(async move { search_web(text) })),
        ("create_order", |text| Box::pin(async move { create_order(text) })),
        ("create_struct", |text| Box::pin(async move { create_order(text) })),
        ("count_items", |text| Box::pin(async move { count_items(text) })),
        ("foreign_order", |text| Box::pin(async move { foreign_order(text) })),
    ];
    tools.into_iter().map(|(name, start)| (name.to_owned(), start)).collect()
}

#[inline]
pub(crate) async fn by_map(map: &Map, tool: &str, text: &str) -> Outcome {
    match map.get(tool) {
        Some(start) => start(text).await,
        None => Err(serde::de::Error::custom("no such tool")),
    }
}

/// Joins tasks that wait for ten milliseconds.
pub(crate) async fn spawn_and_join(count: u32) -> Vec<String> {
    joined(count, |index| async move {
        tokio::time::sleep(TEN_MILLISECONDS).await;
        serde_json::to_string(&index).unwrap()
    })
    .await
}

/// Does the same with this timeout for each task.
pub(crate) async fn spawn_and_join_timeout(count: u32, timeout: Duration) -> Vec<String> {
    joined(count, move |index| async move {
        tokio::time::timeout(timeout, tokio::time::sleep(TEN_MILLISECONDS)).await.unwrap();
        serde_json::to_string(&index).unwrap()
    })
    .await
}

const TEN_MILLISECONDS: Duration = Duration::from_millis(10);

async fn joined<F>(count: u32, wait: impl Fn(u32) -> F) -> Vec<String>
where
    F: Future<Output = String> + Send + 'static,
{
    let tasks: Vec<_> = (0..count).map(|index| tokio::spawn(wait(index))).collect();
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        results.push(task.await.unwrap());
    }
    assert_eq!(results.len(), count as usize);
    results
}
