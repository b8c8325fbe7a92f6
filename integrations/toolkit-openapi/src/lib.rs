//! OpenAPI, both ways: the operations of a service are tools, a registry is a service.

#[cfg(feature = "client")]
pub mod client;
