//! Integration tests of the public API.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod agent;
mod cancel;
#[cfg(all(feature = "anthropic", feature = "genai", feature = "gemini", feature = "openai"))]
mod clients;
#[cfg(all(feature = "files", feature = "sqlite"))]
mod crashes;
#[cfg(all(feature = "anthropic", feature = "genai", feature = "gemini", feature = "openai"))]
mod faults;
mod hosted;
mod interruptions;
mod kosong;
mod limits;
mod property;
#[cfg(all(
    feature = "anthropic",
    feature = "azure",
    feature = "bedrock",
    feature = "cohere",
    feature = "gemini",
    feature = "genai",
    feature = "mistral",
    feature = "openai",
    feature = "vertex"
))]
mod providers;
mod record;
mod requests;
mod secrets;
mod sessions;
mod soulbot;
mod standard;
mod storage;
mod structured;
mod support;
mod team;
mod turns;
