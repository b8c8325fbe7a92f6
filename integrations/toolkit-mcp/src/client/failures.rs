//! Failures of requests and of handshakes.

mod connect_errors;
#[cfg(feature = "client-http")]
mod failure;

pub(super) use connect_errors::{chain, ends_probe, of_transport, refused, unreachable};
#[cfg(feature = "client-http")]
pub(super) use failure::{Failure, HttpFault, is_expired, redacted_fault};
