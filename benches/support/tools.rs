//! The tools: A, B and C as functions and as `async` functions.

use std::hint::black_box;
use std::time::Duration;
use toolkit_ai::schemars::{self, JsonSchema};
use toolkit_ai::serde::{self, Deserialize, Serialize};
use toolkit_ai::serde_json::{self, Value};
use toolkit_ai::{FunctionTool, ToolDefinition, ToolFuture, ToolName, prelude::*};

pub(crate) fn all() -> [FunctionTool; 13] {
    tools![
        add,
        add_async,
        search_web,
        search_web_async,
        create_order,
        create_order_async,
        create_struct,
        create_struct_async,
        count_items,
        take_two,
        take_query,
        take_order,
        wait
    ]
}

/// Add two integers.
///
/// :param a: The first summand
/// :param b: The second summand
#[tool]
pub(crate) fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Search the web and return URLs.
///
/// :param query: The search query string
/// :param max_results: Maximum number of results to return
#[tool]
pub(crate) fn search_web(query: String, max_results: Option<u32>) -> Vec<String> {
    (0..max_results.unwrap_or(5)).map(|index| format!("https://example.com/{query}/{index}")).collect()
}

/// How fast an order is handled.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(crate = "self::serde", rename_all = "lowercase")]
pub(crate) enum Priority {
    Low,
    Normal,
    Express,
}

/// One line of an order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "self::serde")]
pub(crate) struct Item {
    pub(crate) sku: String,
    pub(crate) quantity: u32,
    pub(crate) unit_price: f64,
}

/// Where an order goes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "self::serde")]
pub(crate) struct Address {
    pub(crate) street: String,
    pub(crate) city: String,
    pub(crate) postal_code: String,
    pub(crate) country: String,
}

/// The details of an order.
#[derive(Debug, Serialize)]
#[serde(crate = "self::serde")]
pub(crate) struct Summary {
    customer: String,
    quantity: u32,
    total: f64,
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
pub(crate) fn create_order(
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
    black_box((email, priority, shipping, tags, note, placed_at));
    let goods: f64 = items.iter().map(|item| f64::from(item.quantity) * item.unit_price).sum();
    let postage = if express { 0.0 } else { 5.0 };
    Summary {
        customer,
        quantity: items.iter().map(|item| item.quantity).sum(),
        total: goods * (1.0 - discount) + postage,
    }
}

/// Count the goods of an order.
///
/// :param items: What is ordered
#[tool]
pub(crate) fn count_items(items: Vec<Item>) -> u64 {
    items.iter().map(|item| u64::from(item.quantity)).sum()
}

/// Add two integers.
#[tool]
pub(crate) async fn add_async(a: i64, b: i64) -> i64 {
    add(a, b)
}

/// Search the web and return URLs.
#[tool]
pub(crate) async fn search_web_async(query: String, max_results: Option<u32>) -> Vec<String> {
    search_web(query, max_results)
}

/// Create an order.
#[tool]
#[allow(clippy::too_many_arguments)]
pub(crate) async fn create_order_async(
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
    create_order(customer, email, priority, items, shipping, tags, note, express, discount, placed_at)
}

/// The arguments of C as one struct.
#[derive(Debug, ToolParams)]
pub(crate) struct Order {
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
pub(crate) fn create_struct(#[param(flatten)] order: Order) -> Summary {
    create_order(
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

/// Create an order.
#[tool]
pub(crate) async fn create_struct_async(#[param(flatten)] order: Order) -> Summary {
    create_struct(order)
}

/// A tool of a server, with arguments checked by its schema and no Rust type.
pub(crate) struct ForeignOrder(ToolDefinition);

impl ForeignOrder {
    pub(crate) fn new() -> Self {
        let ToolDefinition { description, parameters, .. } = create_order::tool().definition().clone();
        Self(ToolDefinition::new(ToolName::new("foreign_order").unwrap(), description, parameters))
    }
}

impl Tool for ForeignOrder {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        let customer = serde_json::from_str(arguments).and_then(|order| customer_of(&order));
        ToolFuture::ready(customer.map(ToolOutput::text).map_err(ToolError::failed))
    }
}

pub(crate) fn customer_of(order: &Value) -> serde_json::Result<String> {
    serde_json::to_string(&order["customer"])
}

/// The arguments of A and nothing else.
#[tool]
pub(crate) fn take_two(a: i64, b: i64) -> ToolOutput {
    black_box((a, b));
    ToolOutput::default()
}

/// The arguments of B and nothing else.
#[tool]
pub(crate) fn take_query(query: String, max_results: Option<u32>) -> ToolOutput {
    black_box((query, max_results));
    ToolOutput::default()
}

/// The arguments of C and nothing else.
#[tool]
#[allow(clippy::too_many_arguments)]
pub(crate) fn take_order(
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
) -> ToolOutput {
    black_box((customer, email, priority, items, shipping));
    black_box((tags, note, express, discount, placed_at));
    ToolOutput::default()
}

/// Wait for ten milliseconds.
#[tool]
pub(crate) async fn wait(index: u32) -> u32 {
    tokio::time::sleep(Duration::from_millis(10)).await;
    index
}
