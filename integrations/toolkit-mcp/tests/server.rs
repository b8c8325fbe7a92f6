//! Tests of the server, with a client that writes and reads plain JSON.

#[cfg(feature = "server-http")]
mod batches;
mod calls;
mod client;
#[cfg(all(feature = "server-http", target_os = "linux"))]
mod evil_clients;
mod faults;
#[cfg(feature = "server-http")]
mod floods;
#[cfg(feature = "server-http")]
mod http;
#[cfg(feature = "server-http")]
mod http_settings;
mod input;
#[cfg(feature = "jwt")]
mod jwt;
mod listing;
#[cfg(feature = "server-http")]
mod oauth;
#[cfg(feature = "server-http")]
mod pages;
#[cfg(feature = "server-http")]
mod paths;
#[cfg(feature = "server-http")]
mod peers;
mod prompts;
mod resources;
mod results;
mod rules;
#[cfg(feature = "server-http")]
mod services;
#[cfg(feature = "server-http")]
mod sessions;
#[cfg(all(feature = "server-http", unix))]
mod signals;
#[cfg(feature = "server-http")]
mod streams;
mod visibility;
