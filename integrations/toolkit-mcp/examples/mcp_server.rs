//! A server with three tools: over standard input and output, or over HTTP.
//!
//! ```text
//! cargo run -p toolkit-mcp --all-features --example mcp_server                     # ends with standard input
//! cargo run -p toolkit-mcp --all-features --example mcp_server -- --http           # ends after a minute
//! cargo run -p toolkit-mcp --all-features --example mcp_server -- --http 127.0.0.1:8000 3600
//! ```

#![allow(clippy::print_stderr)]

use std::time::Duration;
use toolkit_ai::ToolTag;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::output::Truncation;
use toolkit_ai::prelude::*;
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::{Caller, LogLevel, ask_client};

/// Add two numbers.
#[tool(read_only, idempotent)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Weather {
    city: String,
    degrees: f64,
}

/// Get the weather for a city.
///
/// :param city: The city, in English
#[tool(title = "Weather", read_only, open_world)]
async fn weather(city: String, context: &ToolContext, #[state] caller: &Caller) -> Weather {
    caller.log(LogLevel::Info, format!("asking about {city}")).await;
    for step in 1..=4 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        context.progress(f64::from(step) / 4.0, format!("station {step}"));
    }
    Weather { city, degrees: 21.5 }
}

/// Delete all notes.
#[tool(destructive)]
fn delete_notes() -> &'static str {
    "all notes are gone"
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = ToolRegistry::from_tools(tools![add, weather, delete_notes])?.with_run_state::<Caller>();
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it deletes data").for_tag(ToolTag::Destructive))
        .rule(PermissionRule::allow())
        .with_handler(ask_client);
    let dispatcher =
        Dispatcher::new(registry)?.with_timeout(Duration::from_secs(30)).with_middleware(permissions);
    let server = McpServer::from(dispatcher)
        .with_name("example", env!("CARGO_PKG_VERSION"))
        .with_instructions("Cities are named in English.")
        .with_truncation(Truncation::new(20_000));

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--http", rest @ ..] = &arguments[..] {
        let address = rest.first().copied().unwrap_or("127.0.0.1:0");
        let seconds = rest.get(1).map_or(Ok(60), |seconds| seconds.parse())?;
        let server = server.bind_http(address).await?;
        // Standard error: standard output belongs to the protocol when the server runs without HTTP.
        eprintln!("{}", server.url());
        server.run_until(tokio::time::sleep(Duration::from_secs(seconds))).await;
    } else {
        server.serve_stdio().await?;
    }
    Ok(())
}
