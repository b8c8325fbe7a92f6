//! An agent with one tool.
//!
//! Run with `cargo run -p toolkit-agent --example agent`. The model is scripted.

#![allow(clippy::print_stdout)]

use toolkit_agent::Agent;
use toolkit_ai::prelude::*;
use toolkit_llm::ScriptedModel;

/// Get the weather for a city.
///
/// :param city: The city, in English
#[tool]
async fn weather(city: String) -> String {
    format!("{city}: clear, 21 °C")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model =
        ScriptedModel::new().call("weather", r#"{"city": "Oslo"}"#).text("It is clear in Oslo, at 21 °C.");
    let agent = Agent::builder(model)
        .instructions("You answer in one sentence.")
        .tools(ToolRegistry::from_tools(tools![weather])?)
        .build()?;

    let output = agent.run("What is the weather in Oslo?").await?;
    println!("{}", output.text);
    println!("{} model calls, {} tool calls", output.model_calls, output.tool_calls);
    Ok(())
}
