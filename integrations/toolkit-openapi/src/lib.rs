//! OpenAPI, both ways: the operations of a service are tools, a registry is a service.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(all(feature = "client", feature = "server"), doc = include_str!("../README.md"))]

#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "client", feature = "server"))]
mod error;
#[cfg(feature = "server")]
pub mod server;

#[cfg(any(feature = "client", feature = "server"))]
pub use error::{OpenApiError, OpenApiErrorKind};
