//! OpenAPI, both ways: the operations of a service are tools, a registry is a service.
#![cfg_attr(feature = "client", doc = include_str!("../README.md"))]

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "server")]
pub use server::{BoundApi, HttpCaller, OpenApiServer, openapi_document};
