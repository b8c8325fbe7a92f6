//! Tools of MCP servers as a tool provider.
//!
//! An [`McpClient`] connects to one server and is a [`ToolProvider`](toolkit_core::ToolProvider). A lost
//! connection is restored, and a [live registry](McpClient::follow) can follow changes of the server's tools.
//!
//! ```no_run
//! use toolkit_core::ToolRegistry;
//! use toolkit_ai::mcp::client::{McpClient, McpCommand};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let files = McpCommand::new("npx").args(["-y", "@modelcontextprotocol/server-filesystem", "/srv"]);
//! let client = McpClient::builder(files).namespace("files").connect().await?;
//! let mut registry = ToolRegistry::new();
//! registry.register_provider(client.clone())?;
//! let listing = registry.call("files-list_directory", r#"{"path": "/srv"}"#).await?;
//! println!("{}", listing.to_text());
//! client.close().await;
//! # Ok(())
//! # }
//! ```

mod call;
mod connection;
mod content;
mod event;
mod failures;
#[cfg(feature = "client-http")]
mod http_transport;
#[cfg(feature = "auth")]
mod login;
mod mcp_client;
mod registry;
mod remote_prompts;
mod remote_resources;
mod settings;
mod tools;
mod transport;

#[cfg(feature = "client-http")]
pub use connection::McpUrl;
pub use connection::{McpEndpoint, McpServerInfo};
pub use event::{McpEvent, McpEvents};
#[cfg(feature = "client-http")]
pub use http_transport::{McpToken, TokenChallenge, TokenRequest, TokenSource};
#[cfg(feature = "auth")]
pub use login::{FileTokenStore, Login, StoreLock, TokenStore};
pub use mcp_client::{McpClient, McpClientBuilder};
pub use registry::Following;
pub use remote_prompts::{McpPrompt, McpPromptArgument, McpPromptMessage};
pub use remote_resources::{McpResource, McpResourceTools, McpSubscription};
pub use settings::{
    ElicitationAnswer, ElicitationHandler, ElicitationKind, ElicitationRequest, McpBackoff, McpLimits,
    McpProtocol,
};
pub use toolkit_core::foreign::{ToolIssue, ToolIssueKind};
pub(crate) use tools::ToolTotal;
pub use tools::{McpToolChange, ToolListChange};
pub use transport::McpCommand;
