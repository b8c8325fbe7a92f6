//! The Model Context Protocol: registries as MCP servers, and the tools of MCP servers in registries.
//!
//! # Features
//!
//! No feature is enabled by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `server` | `server`: serves a registry |
//! | `client` | `client`: connects to servers; `config`: their configuration file |
//! | `client-http` | `client::McpUrl`: connects to servers over streamable HTTP |

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod config;
#[cfg(feature = "server")]
pub mod server;
#[cfg(any(feature = "client", feature = "server"))]
mod trace;

#[cfg(any(feature = "client", feature = "server"))]
pub use trace::TraceContext;
