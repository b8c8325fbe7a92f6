//! OpenAPI, both ways: the operations of a service are tools, a registry is a service.
#![cfg_attr(feature = "client", doc = include_str!("../README.md"))]

#[cfg(feature = "client")]
pub mod client;

/// The examples of the guide's chapter about OpenAPI, run as doc tests.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../../../docs/guide/12-openapi.md")]
pub struct Guide;
