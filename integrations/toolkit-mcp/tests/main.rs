//! Tests of MCP servers and clients.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

#[cfg(feature = "client")]
mod client;
