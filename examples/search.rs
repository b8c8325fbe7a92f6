//! Tool search: the model sees few tools and searches for the others.
//!
//! Run `cargo run --example search`.

#![allow(clippy::print_stdout)]

use toolkit_ai::prelude::*;

/// Read a file from disk.
#[tool]
fn read_file(path: String) -> String {
    format!("contents of {path}")
}

/// Current weather for a city. Uses a paid service.
///
/// :param city: The name of the city
#[tool(defer)]
fn get_weather(city: String) -> String {
    format!("sun in {city}")
}

/// Convert an amount of money at today's rate.
#[tool(defer, search_hint = "currency exchange euro dollar yen")]
fn convert_money(amount: f64, from: String, to: String) -> String {
    format!("{amount} {from} are {} {to}", amount * 2.0)
}

/// Send an e-mail.
#[tool(defer, destructive)]
fn send_mail(to: String, text: String) -> String {
    format!("sent {text:?} to {to}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = tools![read_file, get_weather, convert_money, send_mail];
    let registry = ToolRegistry::from_tools(tools)?.with_tool_search();

    println!("Published to the model:");
    let published = registry.definitions(ApiFormat::Anthropic).to_value();
    for tool in published.as_array().into_iter().flatten() {
        println!("  {}", tool["name"].as_str().unwrap_or_default());
    }

    println!("\nA program searches:");
    for query in ["how much is 20 dollars in yen?", "will it rain in this city?", "Send-Mail"] {
        println!("  {query}");
        for found in registry.search(query, 2) {
            println!("    {:.2}  {}", found.score, found.tool.definition().name);
        }
    }

    println!("\nA model searches and calls its findings:");
    let dispatcher = Dispatcher::new(registry)?;
    let calls = [
        ("discover_tools", r#"{"query": "weather of a city"}"#),
        ("call_deferred", r#"{"_target_tool": "get_weather", "city": "Lima"}"#),
        ("call_deferred", r#"{"_target_tool": "get_wether", "city": "Lima"}"#),
        ("call_deferred", r#"{"_target_tool": "read_file", "path": "notes.txt"}"#),
    ];
    for (tool, arguments) in calls {
        println!("  {tool} {arguments}");
        for result in dispatcher.dispatch([ToolCall::new("1", tool, arguments)]).await {
            println!("    {}", result.to_text());
        }
    }
    Ok(())
}
