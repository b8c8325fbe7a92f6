//! Tests of `toolkit-openapi`.
#![cfg(feature = "client")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod answers;
mod authentication;
mod complaints;
mod definitions;
mod hostile_documents;
mod recorder;
