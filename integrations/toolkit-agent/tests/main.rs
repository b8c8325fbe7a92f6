//! Integration tests of the public API.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod agent;
mod cancel;
#[cfg(all(feature = "anthropic", feature = "genai", feature = "gemini", feature = "openai"))]
mod clients;
#[cfg(all(feature = "anthropic", feature = "genai", feature = "gemini", feature = "openai"))]
mod faults;
mod hosted;
mod kosong;
mod limits;
mod property;
mod record;
mod requests;
mod secrets;
mod sessions;
mod soulbot;
mod storage;
mod structured;
mod support;
mod team;
mod turns;
