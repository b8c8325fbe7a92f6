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

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod config;
#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "server")]
pub use server::{McpServer, serve_stdio};
