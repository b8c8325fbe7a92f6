//! The tools with swiftide, called as in its agents and with text as results.

#![allow(clippy::too_many_arguments)]

use harness::{Address, Contestant, Item, Priority, chat_definitions, lines, search, summary};
use serde::Serialize;
use std::time::Duration;
use swiftide::chat_completion::errors::ToolError;
use swiftide::chat_completion::{Tool, ToolCall, ToolOutput};
use swiftide::traits::AgentContext;

fn json(value: &impl Serialize) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text(serde_json::to_string(value).unwrap_or_default()))
}

#[swiftide::tool(
    description = "Add two integers.",
    param(name = "a", description = "The first summand"),
    param(name = "b", description = "The second summand")
)]
async fn add(_context: &dyn AgentContext, a: i64, b: i64) -> Result<ToolOutput, ToolError> {
    json(&(a + b))
}

#[swiftide::tool(
    description = "Search the web and return URLs.",
    param(name = "query", description = "The search query string"),
    param(name = "max_results", description = "Maximum number of results to return", required = false)
)]
async fn search_web(
    _context: &dyn AgentContext,
    query: String,
    max_results: Option<u32>,
) -> Result<ToolOutput, ToolError> {
    json(&search(&query, max_results))
}

#[swiftide::tool(
    description = "Create an order.",
    param(name = "customer", description = "Who orders"),
    param(name = "email", description = "Where the confirmation goes"),
    param(name = "priority", description = "How fast the order is handled"),
    param(name = "items", description = "What is ordered"),
    param(name = "shipping", description = "Where it goes"),
    param(name = "tags", description = "Free labels"),
    param(name = "note", description = "A note for the carrier", required = false),
    param(name = "express", description = "Whether it is sent by express"),
    param(name = "discount", description = "What is taken off, as a fraction"),
    param(name = "placed_at", description = "When it was placed, in seconds since 1970")
)]
async fn create_order(
    _context: &dyn AgentContext,
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
) -> Result<ToolOutput, ToolError> {
    json(&summary(
        customer,
        lines(&items),
        discount,
        express,
        (email, priority, shipping, tags, note, placed_at),
    ))
}

#[swiftide::tool(
    description = "Wait for ten milliseconds.",
    param(name = "index", description = "A number that is returned")
)]
async fn wait(_context: &dyn AgentContext, index: u32) -> Result<ToolOutput, ToolError> {
    tokio::time::sleep(Duration::from_millis(10)).await;
    json(&index)
}

struct Swiftide(Vec<Box<dyn Tool>>);

impl Contestant for Swiftide {
    type Output = String;

    fn new() -> Self {
        Self(vec![add(), search_web(), create_order(), wait()])
    }

    async fn call(&self, name: &str, arguments: &str) -> Result<String, String> {
        let Some(tool) = self.0.iter().find(|tool| tool.name() == name).cloned() else {
            return Err(format!("no tool `{name}`"));
        };
        let call = ToolCall::builder().id("call_1").name(name).args(arguments.to_owned()).build();
        let call = call.map_err(|error| error.to_string())?;
        let output = tool.invoke(&(), &call).await.map_err(|error| error.to_string())?;
        output.as_text().map(str::to_owned).ok_or_else(|| "no text".to_owned())
    }

    fn definitions(&self) -> String {
        let specs: Vec<_> = self.0.iter().map(|tool| tool.tool_spec()).collect();
        chat_definitions(specs.iter().map(|spec| (&*spec.name, &*spec.description, &spec.parameters_schema)))
    }
}

fn main() -> std::process::ExitCode {
    harness::run::<Swiftide>()
}
