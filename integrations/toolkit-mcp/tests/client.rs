//! The client against servers of the official SDK, and misbehaving ones.

mod agent;
#[cfg(feature = "client-http")]
mod asking;
#[cfg(feature = "auth")]
mod authorization_server;
mod bare;
mod call_time;
mod calls;
mod changes;
mod config;
mod connect_errors;
#[cfg(feature = "client-http")]
mod deep_lists;
#[cfg(feature = "client-http")]
mod deferring;
mod endings;
#[cfg(feature = "client-http")]
mod evil;
mod faults;
mod fresh;
#[cfg(feature = "client-http")]
mod http;
#[cfg(feature = "client-http")]
mod http_requests;
mod lies;
mod listings;
#[cfg(feature = "auth")]
mod login;
#[cfg(feature = "auth")]
mod login_secrets;
mod process;
mod raw;
mod raw_stateless;
mod resources;
mod secrets;
#[cfg(feature = "client-http")]
mod signing;
mod starting;
#[cfg(feature = "client-http")]
mod statuses;

use std::time::Duration;
use tokio::time::timeout;
use toolkit_ai::{ToolContext, ToolError, ToolName, ToolOutput, ToolRegistry};
use toolkit_mcp::client::{McpClient, McpEvent, McpEvents};

fn registry(client: &McpClient) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    registry.register_provider(client.clone()).unwrap();
    registry
}

async fn call(client: &McpClient, tool: &str, arguments: &str) -> Result<ToolOutput, ToolError> {
    call_in(client, tool, arguments, |context| context).await
}

async fn call_in(
    client: &McpClient,
    tool: &str,
    arguments: &str,
    change: impl FnOnce(ToolContext) -> ToolContext,
) -> Result<ToolOutput, ToolError> {
    let registry = registry(client);
    let context = change(ToolContext::new(ToolName::new(tool).unwrap()));
    let tool = registry.get(tool).expect("a tool").clone();
    within(tool.call(arguments, &context)).await
}

/// Fails after a minute.
async fn within<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(60), future).await.expect("nothing hangs")
}

/// Waits for an event with a value of `find`.
async fn event<T>(events: &mut McpEvents, find: impl Fn(&McpEvent) -> Option<T>) -> T {
    within(async {
        loop {
            let event = events.next().await.expect("an event").expect("none is missed");
            if let Some(found) = find(&event) {
                return found;
            }
        }
    })
    .await
}
