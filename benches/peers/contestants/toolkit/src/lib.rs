//! The tools with toolkit.

use harness::{Address, Item, Output, Priority, Summary, lines, search, summary};
use std::borrow::Cow;
use std::time::Duration;
use toolkit_ai::prelude::*;

/// Add two integers.
///
/// :param a: The first summand
/// :param b: The second summand
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Search the web and return URLs.
///
/// :param query: The search query string
/// :param max_results: Maximum number of results to return
#[tool]
fn search_web(query: String, max_results: Option<u32>) -> Vec<String> {
    search(&query, max_results)
}

/// Create an order.
///
/// :param customer: Who orders
/// :param email: Where the confirmation goes
/// :param priority: How fast the order is handled
/// :param items: What is ordered
/// :param shipping: Where it goes
/// :param tags: Free labels
/// :param note: A note for the carrier
/// :param express: Whether it is sent by express
/// :param discount: What is taken off, as a fraction
/// :param placed_at: When it was placed, in seconds since 1970
#[tool]
#[allow(clippy::too_many_arguments)]
fn create_order(
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
    summary(customer, lines(&items), discount, express, (email, priority, shipping, tags, note, placed_at))
}

/// Wait for ten milliseconds.
///
/// :param index: A number that is returned
#[tool]
async fn wait(index: u32) -> u32 {
    tokio::time::sleep(Duration::from_millis(10)).await;
    index
}

/// All tools.
pub fn registry() -> ToolRegistry {
    ToolRegistry::from_tools(tools![add, search_web, create_order, wait]).expect("four names")
}

/// The definitions for the Chat API.
pub fn definitions(registry: &ToolRegistry) -> String {
    registry.definitions(ApiFormat::OpenAiChat).as_json().to_owned()
}

/// Dispatches calls of `wait` as one batch, like a model's turn.
pub async fn dispatch(dispatcher: &Dispatcher, arguments: Vec<String>) -> Vec<Result<Answer, String>> {
    let calls = arguments.into_iter().enumerate();
    let calls = calls.map(|(index, text)| ToolCall::new(index.to_string(), "wait", text)).collect::<Vec<_>>();
    dispatcher.dispatch(calls).await.into_iter().map(answer).collect()
}

/// A tool's result.
pub struct Answer(pub ToolOutput);

impl Output for Answer {
    fn text(&self) -> Cow<'_, str> {
        self.0.to_text()
    }
}

/// Returns a call's output, or why it failed.
pub fn answer(result: ToolResult) -> Result<Answer, String> {
    match result.outcome {
        Ok(output) => Ok(Answer(output)),
        Err(error) => Err(error.to_string()),
    }
}
