//! Serves a registry to MCP clients.
//!
//! ```no_run
//! use toolkit_ai::ToolRegistry;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = ToolRegistry::new();
//! toolkit_ai::mcp::server::serve_stdio(registry).await?;
//! # Ok(())
//! # }
//! ```
//!
//! An [`McpServer`] holds the settings. A tool learns about the client from a [`Caller`].

mod auth;
mod caller;
mod calls;
mod client_requests;
#[cfg(feature = "server-http")]
mod http_answers;
#[cfg(feature = "server-http")]
mod http_server;
mod mcp_server;
mod protocol;
#[cfg(feature = "server-http")]
mod request_body;
mod server_settings;

#[cfg(feature = "jwt")]
pub use auth::JwtVerifier;
#[cfg(feature = "server-http")]
pub use auth::{ProtectedResource, VerifiedToken};
pub use caller::{Caller, Elicited, LogLevel, ask_client};
pub use calls::{PromptMessages, ServerResource};
#[cfg(feature = "server-http")]
pub use http_server::{HttpServer, HttpService};
pub use mcp_server::{McpServer, serve_stdio};
pub use server_settings::ResourceUpdates;
pub use toolkit_core::foreign::show_invisible;
#[cfg(feature = "server-http")]
pub use toolkit_http::server::HttpBody;
