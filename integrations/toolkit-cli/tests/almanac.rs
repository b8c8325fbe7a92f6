//! A server with a tool, a resource, a template of resources and prompts.

use toolkit_ai::prelude::*;
use toolkit_mcp::server::{McpServer, ServerResource};

/// Plan a journey.
#[tool]
fn plan(stops: Vec<Stop>) -> usize {
    stops.len()
}

/// A stop of a journey.
#[derive(Debug, ToolParams)]
#[allow(dead_code)]
struct Stop {
    /// The city
    city: String,
    #[param(default = 1)]
    days: u8,
}

/// Ask about the stars of a night.
#[tool]
fn stars(
    /// The day, such as 2026-08-12
    day: String,
    place: Option<String>,
) -> String {
    format!("What is in the sky of {} on {day}?", place.as_deref().unwrap_or("Rome"))
}

/// The moon of a month.
#[tool]
fn moon(month: String) -> String {
    format!("full moon in {month}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let about = ServerResource::text("almanac://about", "about", "Made for tests.")?;
    let resources = ToolRegistry::from_tools([
        about.with_description("What this almanac is."),
        ServerResource::function("almanac://moon/{month}", moon::tool()),
    ])?;
    let server = McpServer::new(tools![plan])?.with_prompts(tools![stars])?.with_resources(resources)?;
    Ok(server.serve_stdio().await?)
}
