//! The tools by hand: a map of boxed futures, a derived struct for each tool, and schemas made once.

use harness::{Address, Contestant, Item, Priority, chat_definitions, lines, search, summary};
use schemars::{JsonSchema, Schema, schema_for};
use serde::Deserialize;
use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

type Outcome = Result<String, serde_json::Error>;
type Started<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;
type Start = fn(&str) -> Started<'_>;

/// Add two integers.
#[derive(Debug, Deserialize, JsonSchema)]
struct Add {
    /// The first summand
    a: i64,
    /// The second summand
    b: i64,
}

/// Search the web and return URLs.
#[derive(Debug, Deserialize, JsonSchema)]
struct SearchWeb {
    /// The search query string
    query: String,
    /// Maximum number of results to return
    max_results: Option<u32>,
}

/// Create an order.
#[derive(Debug, Deserialize, JsonSchema)]
struct CreateOrder {
    /// Who orders
    customer: String,
    /// Where the confirmation goes
    email: String,
    /// How fast the order is handled
    priority: Priority,
    /// What is ordered
    items: Vec<Item>,
    /// Where it goes
    shipping: Address,
    /// Free labels
    tags: Vec<String>,
    /// A note for the carrier
    note: Option<String>,
    /// Whether it is sent by express
    express: bool,
    /// What is taken off, as a fraction
    discount: f64,
    /// When it was placed, in seconds since 1970
    placed_at: u64,
}

/// Wait for ten milliseconds.
#[derive(Debug, Deserialize, JsonSchema)]
struct Wait {
    /// A number that is returned
    index: u32,
}

fn add(text: &str) -> Outcome {
    let Add { a, b } = serde_json::from_str(text)?;
    serde_json::to_string(&(a + b))
}

fn search_web(text: &str) -> Outcome {
    let SearchWeb { query, max_results } = serde_json::from_str(text)?;
    serde_json::to_string(&search(&query, max_results))
}

fn create_order(text: &str) -> Outcome {
    let order: CreateOrder = serde_json::from_str(text)?;
    let unused = (order.email, order.priority, order.shipping, order.tags, order.note, order.placed_at);
    serde_json::to_string(&summary(
        order.customer,
        lines(&order.items),
        order.discount,
        order.express,
        unused,
    ))
}

async fn wait(text: &str) -> Outcome {
    let Wait { index } = serde_json::from_str(text)?;
    tokio::time::sleep(Duration::from_millis(10)).await;
    serde_json::to_string(&index)
}

/// The map, and the definitions.
pub struct Floor {
    starts: HashMap<String, Start>,
    definitions: Vec<(&'static str, &'static str, Schema)>,
}

impl Contestant for Floor {
    type Output = String;

    fn new() -> Self {
        let tools: [(&str, &str, Schema, Start); 4] = [
            ("add", "Add two integers.", schema_for!(Add), |text| Box::pin(async move { add(text) })),
            ("search_web", "Search the web and return URLs.", schema_for!(SearchWeb), |text| {
                Box::pin(async move { search_web(text) })
            }),
            ("create_order", "Create an order.", schema_for!(CreateOrder), |text| {
                Box::pin(async move { create_order(text) })
            }),
            ("wait", "Wait for ten milliseconds.", schema_for!(Wait), |text| Box::pin(wait(text))),
        ];
        let mut floor = Self { starts: HashMap::new(), definitions: Vec::new() };
        for (name, description, schema, start) in tools {
            floor.starts.insert(name.to_owned(), start);
            floor.definitions.push((name, description, schema));
        }
        floor
    }

    async fn call(&self, tool: &str, arguments: &str) -> Result<String, String> {
        let Some(start) = self.starts.get(tool) else { return Err(format!("no tool `{tool}`")) };
        start(arguments).await.map_err(|error| error.to_string())
    }

    fn definitions(&self) -> String {
        chat_definitions(
            self.definitions.iter().map(|(name, description, schema)| (*name, *description, schema)),
        )
    }
}
