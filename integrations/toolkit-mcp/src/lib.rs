//! The Model Context Protocol: registries as MCP servers, and the tools of MCP servers in registries.
//!
//! # Features
//!
//! No feature is enabled by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `server` | `server`: serves a registry over standard input and output, or any stream of bytes |
//! | `server-http` | serves a registry over HTTP, also as a part of an axum application |
//! | `jwt` | `server::JwtVerifier`: checks access tokens with the keys of their issuer |
//! | `client` | `client`: connects to servers; `config`: those of configuration files |
//! | `client-http` | `client::McpUrl`: connects to servers over streamable HTTP |
//! | `auth` | `client::Login`: logs in to servers over HTTP with OAuth |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod config;
#[cfg(any(feature = "auth", feature = "jwt"))]
mod guarded_http;
#[cfg(any(feature = "client-http", feature = "jwt"))]
mod http_client;
#[cfg(any(feature = "client", feature = "server"))]
mod line_transport;
#[cfg(any(feature = "client", feature = "server"))]
mod locks;
#[cfg(any(feature = "client", feature = "server"))]
mod macros;
#[cfg(any(feature = "client", feature = "server"))]
mod numbers;
#[cfg(any(feature = "client", feature = "server"))]
mod reports;
#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "server")]
pub use server::{McpServer, serve_stdio};
pub use toolkit_core::context::TraceContext;

/// The examples of the README, compiled as doc tests.
#[cfg(all(doctest, feature = "client", feature = "server-http"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
