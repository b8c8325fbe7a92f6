//! Tests of the servers and clients of this crate.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, clippy::print_stdout)]

#[cfg(all(feature = "client-http", feature = "server-http"))]
mod both;
#[cfg(feature = "client")]
mod client;
#[cfg(all(feature = "client-http", feature = "server-http"))]
mod examples;
#[cfg(all(feature = "client-http", feature = "server-http", feature = "auth"))]
mod many_machines;
#[cfg(any(feature = "client-http", feature = "server-http"))]
mod memory;
#[cfg(unix)]
mod scripts;
#[cfg(feature = "server")]
mod server;
