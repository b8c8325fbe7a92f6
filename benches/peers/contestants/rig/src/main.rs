//! The tools with rig: its macro, and the tool set of its agents.

#![allow(clippy::too_many_arguments)]

use harness::{Address, Contestant, Item, Priority, Summary, chat_definitions, lines, search, summary};
use rig_agent::tool::ToolSet;
use rig_core::rig_tool;
use rig_core::tool::{ToolContext, ToolExecutionError};
use std::time::Duration;

/// Add two integers.
#[rig_tool(params(a = "The first summand", b = "The second summand"), required(a, b))]
fn add(a: i64, b: i64) -> Result<i64, ToolExecutionError> {
    Ok(a + b)
}

/// Search the web and return URLs.
#[rig_tool(
    params(query = "The search query string", max_results = "Maximum number of results to return"),
    required(query)
)]
fn search_web(query: String, max_results: Option<u32>) -> Result<Vec<String>, ToolExecutionError> {
    Ok(search(&query, max_results))
}

/// Create an order.
#[rig_tool]
fn create_order(
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
) -> Result<Summary, ToolExecutionError> {
    Ok(summary(
        customer,
        lines(&items),
        discount,
        express,
        (email, priority, shipping, tags, note, placed_at),
    ))
}

/// Wait for ten milliseconds.
#[rig_tool(params(index = "A number that is returned"), required(index))]
async fn wait(index: u32) -> Result<u32, ToolExecutionError> {
    tokio::time::sleep(Duration::from_millis(10)).await;
    Ok(index)
}

struct Rig(ToolSet);

impl Contestant for Rig {
    type Output = String;

    fn new() -> Self {
        let mut tools = ToolSet::default();
        tools.add_tool(Add);
        tools.add_tool(SearchWeb);
        tools.add_tool(CreateOrder);
        tools.add_tool(Wait);
        Self(tools)
    }

    async fn call(&self, tool: &str, arguments: &str) -> Result<String, String> {
        let result = self.0.execute(tool, arguments, &mut ToolContext::default()).await;
        match result.into_result() {
            Ok(output) => Ok(output.render()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn definitions(&self) -> String {
        let tools = self.0.tool_definitions();
        chat_definitions(tools.iter().map(|tool| (&*tool.name, &*tool.description, &tool.parameters)))
    }
}

fn main() -> std::process::ExitCode {
    harness::run::<Rig>()
}
