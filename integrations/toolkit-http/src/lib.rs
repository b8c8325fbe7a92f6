//! HTTP for the integrations of toolkit-ai, without a protocol above it.
//!
//! The feature `client` is the [connections](client) of clients, and the feature `server` the guards of servers.

#[cfg(any(feature = "client", feature = "server"))]
mod macros;

#[cfg(feature = "client")]
pub mod client;

/// The examples of the README, compiled as doc tests.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
