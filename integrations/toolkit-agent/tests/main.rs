//! Integration tests of the public API.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod agent;
mod answers;
mod attempts;
#[cfg(all(
    feature = "anthropic",
    feature = "genai",
    feature = "gemini",
    feature = "ollama",
    feature = "openai"
))]
mod bodies;
mod breaks;
mod cancel;
#[cfg(all(feature = "anthropic", feature = "genai", feature = "gemini", feature = "openai"))]
mod clients;
mod compaction;
mod erased;
mod events;
#[cfg(all(feature = "anthropic", feature = "genai", feature = "gemini", feature = "openai"))]
mod faults;
mod forks;
mod growth;
mod guardrails;
mod hosted;
mod interruptions;
mod kosong;
mod limits;
mod log;
mod models;
mod new_input;
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
mod recovery;
mod refusals;
mod requests;
mod rules;
mod run_requests;
mod runs;
mod secrets;
mod sendable;
mod sessions;
mod shortened;
mod soulbot;
mod speech;
mod spent;
mod standard;
mod status;
mod stops;
mod storage;
mod structured;
mod support;
mod team;
mod turns;
