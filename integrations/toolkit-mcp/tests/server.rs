//! Tests of the server, with a client that writes and reads plain JSON.

mod calls;
mod client;
mod faults;
#[cfg(feature = "server-http")]
mod http;
mod input;
mod listing;
mod results;
#[cfg(feature = "server-http")]
mod sessions;
#[cfg(all(feature = "server-http", unix))]
mod signals;
#[cfg(feature = "server-http")]
mod streams;
