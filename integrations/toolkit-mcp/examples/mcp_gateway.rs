//! A gateway: the tools of several servers and of a service with an OpenAPI document, each in a namespace of its own,
//! filtered, and served as one server.
//!
//! ```text
//! cargo run -p toolkit-mcp --all-features --example mcp_gateway                             # ends with standard input
//! cargo run -p toolkit-mcp --all-features --example mcp_gateway -- --http 127.0.0.1:8000    # the same, over HTTP
//! ```
//!
//! The servers of this example run in the program itself, so that it needs no other. In yours, a source is an `McpCommand` or
//! an `McpUrl`, and the document has an address of its own.

#![allow(clippy::print_stderr)]

use toolkit_ai::prelude::*;
use toolkit_ai::registry::TagMatch;
use toolkit_ai::{BuildError, LiveRegistry, ToolFilter, ToolTag};
use toolkit_mcp::client::{McpClient, McpEndpoint};
use toolkit_mcp::server::McpServer;
use toolkit_openapi::client::{Namespaces, OpenApiTools};
use toolkit_openapi::server::OpenApiServer;

mod notes {
    use toolkit_ai::tool;

    /// List the notes.
    #[tool(read_only)]
    pub(crate) fn list() -> Vec<&'static str> {
        vec!["groceries", "birthdays"]
    }

    /// Delete a note.
    #[tool(destructive)]
    pub(crate) fn delete(note: String) -> String {
        format!("`{note}` is gone")
    }
}

mod weather {
    use toolkit_ai::tool;

    /// Get the temperature in a city, in degrees Celsius.
    #[tool(read_only, open_world)]
    pub(crate) fn temperature(city: String) -> f64 {
        city.len() as f64 * 2.5
    }

    /// Describe the sensors of the station.
    #[tool(read_only)]
    pub(crate) fn diagnose() -> &'static str {
        "all sensors work"
    }
}

mod orders {
    use toolkit_ai::tool;

    /// Get the state of an order.
    #[tool(read_only)]
    pub(crate) fn state(number: u32) -> String {
        format!("order {number} is on its way")
    }
}

/// One server whose tools the gateway offers.
struct Source {
    namespace: &'static str,
    endpoint: McpEndpoint,
    /// The tools that are left out, by their names at the server.
    hidden: &'static [&'static str],
}

/// Returns the endpoint of a server in this program. A new connection starts the server again.
fn in_memory(registry: ToolRegistry) -> Result<McpEndpoint, BuildError> {
    let server = McpServer::new(registry)?;
    Ok(McpEndpoint::streams_from(move || {
        let server = server.clone();
        async move {
            let (near, far) = tokio::io::duplex(65_536);
            tokio::spawn(server.serve(far));
            Ok(tokio::io::split(near))
        }
    }))
}

fn sources() -> Result<Vec<Source>, BuildError> {
    let notes = ToolRegistry::from_tools(tools![notes::list, notes::delete])?;
    let weather = ToolRegistry::from_tools(tools![weather::temperature, weather::diagnose])?;
    Ok(vec![
        Source { namespace: "notes", endpoint: in_memory(notes)?, hidden: &[] },
        Source { namespace: "weather", endpoint: in_memory(weather)?, hidden: &["diagnose"] },
    ])
}

/// Connects to every server. The registry then has the tools of all of them, and follows their changes.
async fn joined(sources: Vec<Source>) -> Result<LiveRegistry, Box<dyn std::error::Error>> {
    let registry = LiveRegistry::new(ToolRegistry::new())?;
    for Source { namespace, endpoint, hidden } in sources {
        let client = McpClient::builder(endpoint)
            .namespace(namespace)
            .tool_filter(move |name| !hidden.contains(&name))
            .connect()
            .await?;
        client.issues().iter().for_each(|issue| eprintln!("{namespace}: {issue}"));
        client.follow(&registry)?.detach();
    }
    Ok(registry)
}

/// Serves tools over HTTP, and returns the address of the OpenAPI document that describes them.
async fn service() -> Result<String, Box<dyn std::error::Error>> {
    let server = OpenApiServer::new(tools![orders::state])?.bind("127.0.0.1:0").await?;
    let document = format!("{}/openapi.json", server.url().trim_end_matches('/'));
    tokio::spawn(server.run_until(std::future::pending::<()>()));
    Ok(document)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = joined(sources()?).await?;
    let orders = OpenApiTools::builder().namespaces(Namespaces::One("orders".to_owned()));
    let orders = orders.read_address(&service().await?).await?.registry()?;
    registry.change(|registry| registry.merge(orders))?;
    // One rule for all servers: nothing that deletes.
    let offered = ToolFilter::new().without_tags(TagMatch::any([ToolTag::Destructive]));
    let gateway = McpServer::new(registry)?
        .with_name("gateway", env!("CARGO_PKG_VERSION"))
        .with_filter(move |_, tool| offered.matches(tool));

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--http", rest @ ..] = &arguments[..] {
        let server = gateway.bind_http(rest.first().copied().unwrap_or("127.0.0.1:0")).await?;
        eprintln!("{}", server.url());
        let input =
            tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        server.run_until(async { drop(input.await) }).await;
    } else {
        gateway.serve_stdio().await?;
    }
    Ok(())
}
