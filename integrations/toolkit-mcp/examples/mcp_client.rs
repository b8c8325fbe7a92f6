//! A client that starts a server as a child process, lists the tools and calls some.
//!
//! ```text
//! cargo run -p toolkit-mcp --all-features --example mcp_client    # the server of the example `mcp_server`
//! cargo run -p toolkit-mcp --all-features --example mcp_client -- npx -y @modelcontextprotocol/server-everything
//! ```

#![allow(clippy::print_stdout)]

use serde_json::json;
use std::time::Duration;
use toolkit_ai::RunContext;
use toolkit_ai::prelude::*;
use toolkit_mcp::client::{ElicitationAnswer, ElicitationRequest, McpClient, McpCommand};

/// Returns the command of the example server. If its program is not built yet, cargo builds it.
fn example_server() -> McpCommand {
    let program = std::env::current_exe().ok().map(|client| client.with_file_name("mcp_server"));
    match program.filter(|program| program.exists()) {
        Some(program) => McpCommand::new(program),
        None => {
            let arguments =
                ["run", "--quiet", "-p", "toolkit-mcp", "--all-features", "--example", "mcp_server"];
            McpCommand::new("cargo").args(arguments).inherit_env()
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = match arguments.split_first() {
        Some((program, arguments)) => McpCommand::new(program).args(arguments),
        None => example_server(),
    };
    let client = McpClient::builder(command)
        .namespace("demo")
        .connect_timeout(Duration::from_secs(600))
        .elicitation(|question: ElicitationRequest| async move {
            println!("{} asks: {}", question.server, question.message);
            ElicitationAnswer::Decline
        })
        .connect()
        .await?;
    let server = client.server_info();
    println!("{} {} speaks {}", server.name, server.version, server.protocol);
    client.issues().iter().for_each(|issue| println!("{issue}"));

    let mut registry = ToolRegistry::new();
    registry.register_provider(client.clone())?;
    for tool in registry.iter_definitions() {
        println!("- {}: {}", tool.name, tool.description.lines().next().unwrap_or_default());
    }
    let run = RunContext::new().on_progress(|progress| println!("  {:.0} %", progress.fraction * 100.0));
    let dispatcher = Dispatcher::new(registry)?.with_run(run);
    // The second call is wrong on purpose, and the third needs the approval that is refused above.
    let calls = [
        ("demo-add", json!({"a": 2, "b": 40})),
        ("demo-add", json!({"a": "two"})),
        ("demo-delete_notes", json!({})),
        ("demo-weather", json!({"city": "Oslo"})),
    ];
    for (number, (name, arguments)) in calls.into_iter().enumerate() {
        let call = ToolCall::new(number.to_string(), name, arguments.to_string());
        for result in dispatcher.dispatch([call]).await {
            println!("{name}: {}", result.to_text());
        }
    }
    client.close().await;
    Ok(())
}
