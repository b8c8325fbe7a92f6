//! What a user of agents sees.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[cfg(all(feature = "anthropic", feature = "genai", feature = "google", feature = "openai"))]
mod clients;
#[cfg(all(feature = "anthropic", feature = "genai", feature = "google", feature = "openai"))]
mod faults;
