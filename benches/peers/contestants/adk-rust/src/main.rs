//! The tools with adk-rust: its macro, a map by name, and execution as in its agents.

use adk_core::{AdkError, Tool, ToolContext};
use adk_rust_macros::tool;
use adk_tool::SimpleToolContext;
use harness::{Address, Contestant, Item, Priority, chat_definitions, lines, search, summary};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Deserialize, JsonSchema)]
struct AddArguments {
    /// The first summand
    a: i64,
    /// The second summand
    b: i64,
}

/// Add two integers.
#[tool]
async fn add(arguments: AddArguments) -> Result<Value, AdkError> {
    Ok(json!(arguments.a + arguments.b))
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchWebArguments {
    /// The search query string
    query: String,
    /// Maximum number of results to return
    max_results: Option<u32>,
}

/// Search the web and return URLs.
#[tool]
async fn search_web(arguments: SearchWebArguments) -> Result<Value, AdkError> {
    Ok(json!(search(&arguments.query, arguments.max_results)))
}

#[derive(Debug, Deserialize, JsonSchema)]
struct CreateOrderArguments {
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

/// Create an order.
#[tool]
async fn create_order(order: CreateOrderArguments) -> Result<Value, AdkError> {
    let unused = (order.email, order.priority, order.shipping, order.tags, order.note, order.placed_at);
    Ok(json!(summary(order.customer, lines(&order.items), order.discount, order.express, unused)))
}

#[derive(Debug, Deserialize, JsonSchema)]
struct WaitArguments {
    /// A number that is returned
    index: u32,
}

/// Wait for ten milliseconds.
#[tool]
async fn wait(arguments: WaitArguments) -> Result<Value, AdkError> {
    tokio::time::sleep(Duration::from_millis(10)).await;
    Ok(json!(arguments.index))
}

struct Adk {
    tools: HashMap<String, Arc<dyn Tool>>,
    context: Arc<dyn ToolContext>,
}

impl Contestant for Adk {
    type Output = String;

    fn new() -> Self {
        let tools: [Arc<dyn Tool>; 4] =
            [Arc::new(Add), Arc::new(SearchWeb), Arc::new(CreateOrder), Arc::new(Wait)];
        Self {
            tools: tools.into_iter().map(|tool| (tool.name().to_owned(), tool)).collect(),
            context: Arc::new(SimpleToolContext::new("peers")),
        }
    }

    async fn call(&self, name: &str, arguments: &str) -> Result<String, String> {
        let Some(tool) = self.tools.get(name) else { return Err(format!("no tool `{name}`")) };
        let arguments = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        let output =
            tool.execute(Arc::clone(&self.context), arguments).await.map_err(|error| error.to_string())?;
        serde_json::to_string(&output).map_err(|error| error.to_string())
    }

    fn definitions(&self) -> String {
        let declarations: Vec<_> = self.tools.values().map(|tool| tool.declaration()).collect();
        chat_definitions(declarations.iter().map(|tool| {
            let text = |key: &str| tool[key].as_str().unwrap_or_default();
            (text("name"), text("description"), &tool["parameters"])
        }))
    }
}

fn main() -> std::process::ExitCode {
    harness::run::<Adk>()
}
