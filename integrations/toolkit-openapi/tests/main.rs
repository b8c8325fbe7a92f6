//! Tests of `toolkit-openapi`.
#![cfg(any(feature = "client", feature = "server"))]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

#[cfg(feature = "client")]
mod answers;
#[cfg(feature = "client")]
mod authentication;
#[cfg(feature = "client")]
mod complaints;
#[cfg(feature = "client")]
mod definitions;
#[cfg(feature = "client")]
mod growth;
#[cfg(feature = "client")]
mod hostile_documents;
#[cfg(feature = "client")]
mod plain_reading;
#[cfg(feature = "client")]
mod recorder;
#[cfg(feature = "client")]
mod reductions;
#[cfg(all(feature = "client", feature = "server"))]
mod round_trip;
#[cfg(feature = "server")]
mod rules;
#[cfg(feature = "client")]
mod sent_requests;
#[cfg(feature = "server")]
mod served;
#[cfg(feature = "server")]
mod served_document;
#[cfg(feature = "server")]
mod services;
#[cfg(feature = "client")]
mod whole_documents;
