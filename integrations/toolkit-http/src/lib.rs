//! HTTP for the integrations of toolkit-ai, without a protocol above it.
//!
//! With the feature `client`, the module `client` has the connections of clients. With the feature `server`, the module
//! `server` has the guards of servers.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
mod macros;

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;

/// The examples of the README, compiled as doc tests.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
