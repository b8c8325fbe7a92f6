//! A server with a tool, a resource, a template of resources and a prompt. With arguments, it is a command line whose model
//! answers `wait` after a minute.

use std::process::ExitCode;
use std::time::Duration;
use toolkit_ai::agent::Agent;
use toolkit_ai::llm::{ChatModel, Message, ModelError, ModelRequest, ModelResponse};
use toolkit_ai::prelude::*;
use toolkit_cli::CommandLine;
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

struct Slow;

impl ChatModel for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let asked = request.messages.last().map(Message::to_text).unwrap_or_default();
        if asked.contains("wait") {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        Ok(ModelResponse::text("done"))
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    if std::env::args().len() > 1 {
        let agent = Agent::builder(Slow).build()?;
        return Ok(CommandLine::new(Dispatcher::new(tools![plan])?).with_agent(agent).run().await);
    }
    let about = ServerResource::text("almanac://about", "about", "Made for tests.")?;
    let resources = ToolRegistry::from_tools([
        about.with_description("What this almanac is."),
        ServerResource::function("almanac://moon/{month}", moon::tool()),
    ])?;
    McpServer::new(tools![plan])?
        .with_prompts(tools![stars])?
        .with_resources(resources)?
        .serve_stdio()
        .await?;
    Ok(ExitCode::SUCCESS)
}
