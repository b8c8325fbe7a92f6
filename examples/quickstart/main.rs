//! Recorded responses with parallel tool calls, answered by plain functions.
//!
//! Run `cargo run --example quickstart`, without network or key.

mod report;

use std::time::Duration;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::Value;

/// Add two integers.
///
/// :param a: The first number
/// :param b: The second number
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Divide one number by another.
///
/// Args:
///     a: The number to divide
///     b: The number to divide by; not zero
#[tool]
fn divide(a: f64, b: f64) -> Result<f64, String> {
    if b == 0.0 { Err("division by zero; ask for another divisor".to_owned()) } else { Ok(a / b) }
}

/// Search the web and return URLs.
///
/// :param query: The search query string
/// :param max_results: Maximum number of results to return
#[tool]
async fn search_web(query: String, #[param(default = 5)] max_results: u32) -> Vec<String> {
    tokio::time::sleep(Duration::from_millis(30)).await;
    let page = query.to_lowercase().replace(' ', "-");
    (1..=max_results).map(|n| format!("https://example.com/{page}/{n}")).collect()
}

#[derive(ToolParams)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// Get current weather for a city.
///
/// # Arguments
///
/// * `city` - The city, in English
/// * `unit` - The unit of the temperature; Celsius if not given
#[tool]
async fn get_weather(city: String, unit: Option<Unit>) -> String {
    tokio::time::sleep(Duration::from_millis(20)).await;
    match unit.unwrap_or(Unit::Celsius) {
        Unit::Celsius => format!("{city}: clear, 21 °C"),
        Unit::Fahrenheit => format!("{city}: clear, 70 °F"),
    }
}

#[derive(ToolParams)]
struct Order {
    /// Who pays.
    customer: String,
    items: Vec<Item>,
    /// Whether it is sent today.
    express: bool,
}

#[derive(ToolParams)]
struct Item {
    sku: String,
    #[param(range = 1..)]
    quantity: u32,
}

/// Place an order and return its number of pieces.
#[tool]
fn create_order(
    /// What is ordered, and by whom.
    order: Order,
) -> String {
    let pieces: u32 = order.items.iter().map(|item| item.quantity).sum();
    let skus: Vec<&str> = order.items.iter().map(|item| item.sku.as_str()).collect();
    let speed = if order.express { "express" } else { "standard" };
    format!("{pieces} pieces ({}) for {}, {speed}", skus.join(", "), order.customer)
}

/// Write a long report.
///
/// Parameters
/// ----------
/// topic : str
///     What the report is about
#[tool(timeout = "250ms")]
async fn slow_report(topic: String) -> String {
    tokio::time::sleep(Duration::from_secs(60)).await;
    format!("All about {topic}.")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = ToolRegistry::discover()?;
    report::definitions(&registry.definitions(ApiFormat::OpenAiChat));

    let dispatcher = Dispatcher::new(registry)?.with_timeout(Duration::from_secs(10));
    for (title, response) in report::recorded_responses()? {
        report::heading(&title);
        let calls = ApiFormat::OpenAiChat.parse_calls(&response)?;
        report::calls(&calls);

        let results = dispatcher.dispatch(calls).await;
        report::results(&results);

        let mut messages: Vec<Value> = ApiFormat::OpenAiChat.assistant_messages(&response)?;
        messages.extend(ApiFormat::OpenAiChat.encode_results(&results));
        report::messages(&messages);
    }
    Ok(())
}
