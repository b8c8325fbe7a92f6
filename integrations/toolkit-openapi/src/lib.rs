//! OpenAPI, both ways: the operations of a service are tools, a registry is a service.
#![cfg_attr(feature = "client", doc = include_str!("../README.md"))]

#[cfg(feature = "client")]
pub mod client;
