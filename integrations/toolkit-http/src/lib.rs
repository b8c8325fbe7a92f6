//! HTTP for the integrations of toolkit-ai, without a protocol above it.
//!
//! The features `client` and `server` add the modules with the connections of clients and the guards of
//! servers.
//!
//! ```
//! use toolkit_http::client::{HttpClient, HttpLimits, parse_url};
//! use toolkit_http::server::HttpGuards;
//!
//! # fn main() -> Result<(), toolkit_http::client::HttpError> {
//! let client = HttpClient::new(HttpLimits::default()).with_public_addresses_only();
//! assert_eq!(parse_url("https://example.com/items")?.path(), "/items");
//! assert_eq!(client.limits().max_bytes, 64 << 20); // in bytes
//!
//! let mut guards = HttpGuards::new("GET, POST", "");
//! guards.set_token("secret"); // every request needs it
//! # Ok(())
//! # }
//! ```

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
