//! The tools with tools-rs, without enums and descriptions of parameters.

use harness::{Contestant, Summary, chat_definitions, search, summary};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use tools_rs::{FunctionCall, ToolCollection, ToolSchema, collect_tools, tool};

/// Add two integers.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Search the web and return URLs.
#[tool]
async fn search_web(query: String, max_results: Option<u32>) -> Vec<String> {
    search(&query, max_results)
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    Normal,
    Express,
}

impl ToolSchema for Priority {
    fn schema() -> Value {
        serde_json::json!({ "type": "string", "enum": ["low", "normal", "express"] })
    }
}

#[derive(Debug, Deserialize, ToolSchema)]
#[allow(dead_code, reason = "decoded only")]
struct Item {
    sku: String,
    quantity: u32,
    unit_price: f64,
}

#[derive(Debug, Deserialize, ToolSchema)]
#[allow(dead_code, reason = "decoded only")]
struct Address {
    street: String,
    city: String,
    postal_code: String,
    country: String,
}

/// Create an order.
#[tool]
#[allow(clippy::too_many_arguments)]
async fn create_order(
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
) -> Summary {
    let lines = items.iter().map(|item| (item.quantity, item.unit_price));
    summary(customer, lines, discount, express, (email, priority, shipping, tags, note, placed_at))
}

/// Wait for ten milliseconds.
#[tool]
async fn wait(index: u32) -> u32 {
    tokio::time::sleep(Duration::from_millis(10)).await;
    index
}

struct ToolsRs(ToolCollection);

impl Contestant for ToolsRs {
    type Output = String;

    fn new() -> Self {
        Self(collect_tools())
    }

    async fn call(&self, tool: &str, arguments: &str) -> Result<String, String> {
        let arguments = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        // `FunctionCall::new` would make a UUID as id.
        let call = FunctionCall { id: None, name: tool.to_owned(), arguments };
        let response = self.0.call(call).await.map_err(|error| error.to_string())?;
        serde_json::to_string(&response.result).map_err(|error| error.to_string())
    }

    fn definitions(&self) -> String {
        let list = self.0.json().unwrap_or_default();
        let text = |value: &'_ Value| value.as_str().unwrap_or_default().to_owned();
        let tools: Vec<_> = list
            .as_array()
            .into_iter()
            .flatten()
            .map(|tool| (text(&tool["name"]), text(&tool["description"]), &tool["parameters"]))
            .collect();
        chat_definitions(tools.iter().map(|(name, description, schema)| (&**name, &**description, schema)))
    }
}

fn main() -> std::process::ExitCode {
    harness::run::<ToolsRs>()
}
