//! The Model Context Protocol: registries as MCP servers, and the tools of MCP servers in registries.
//!
//! ```
//! use toolkit_ai::prelude::*;
//! use toolkit_ai::mcp::server::McpServer;
//! use toolkit_ai::mcp::client::{McpClient, McpEndpoint};
//!
//! /// Add two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! // A server in this process. `toolkit_ai::mcp::server::serve_stdio` and `McpServer::serve_http` serve other programs.
//! let server = McpServer::new(ToolRegistry::from_tools(tools![add])?)?;
//! let (near, far) = tokio::io::duplex(65_536);
//! tokio::spawn(server.serve(far));
//!
//! // Its client. `McpCommand` and `McpUrl` reach servers of others.
//! let (reader, writer) = tokio::io::split(near);
//! let client = McpClient::builder(McpEndpoint::streams(reader, writer)).namespace("math").connect().await?;
//! let mut registry = ToolRegistry::new();
//! registry.register_provider(client.clone())?;
//! assert_eq!(registry.call("math-add", r#"{"a": 2, "b": 40}"#).await?.to_text(), "42");
//! client.close().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # Features
//!
//! Only `aws-lc-rs` is on by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `server` | `server`: serves a registry over standard input and output, or any stream of bytes |
//! | `server-http` | serves a registry over HTTP, also as a tower service |
//! | `axum-08` | `McpServer::into_router`: a router of axum 0.8 |
//! | `jwt` | `server::JwtVerifier`: checks access tokens with the keys of their issuer |
//! | `client` | `client`: connects to servers; `config`: those of configuration files |
//! | `client-http` | `client::McpUrl`: connects to servers over streamable HTTP |
//! | `auth` | `client::Login`: logs in to servers over HTTP with OAuth; the SDK compiles `reqwest` for it |
//! | `tracing` | spans of requests and their measurements, with OpenTelemetry's names |
//! | `aws-lc-rs` | cryptography of encrypted connections, as `rustls` and `reqwest` have it; on by default |
//! | `ring` | cryptography of `ring` in place of it, which compiles faster |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod config;
#[cfg(any(feature = "client", feature = "server"))]
mod error_data;
#[cfg(any(feature = "auth", feature = "jwt"))]
mod guarded_http;
#[cfg(any(feature = "client", feature = "server"))]
mod line_transport;
#[cfg(any(feature = "client", feature = "server"))]
#[cfg(any(feature = "client", feature = "server"))]
mod macros;
#[cfg(any(feature = "client", feature = "server"))]
mod mcp_error;
#[cfg(any(feature = "client", feature = "server"))]
mod numbers;
#[cfg(any(feature = "client", feature = "server"))]
mod reports;
#[cfg(any(feature = "client", feature = "server"))]
mod request_span;
#[cfg(feature = "server")]
pub mod server;
#[cfg(any(feature = "client", feature = "server"))]
mod unsent;
#[cfg(any(feature = "client-http", feature = "jwt"))]
mod user_agent;

#[cfg(any(feature = "client", feature = "server"))]
pub use mcp_error::{McpError, McpErrorKind};

/// The examples of the README, compiled as doc tests.
#[cfg(all(doctest, feature = "client", feature = "server-http"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
