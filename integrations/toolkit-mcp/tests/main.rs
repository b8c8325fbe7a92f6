//! Tests of the servers and clients of this crate.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(feature = "server")]
mod server;
