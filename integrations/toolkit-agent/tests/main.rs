//! What users of agents see.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails should stop")]

mod property;
mod record;
mod structured;
mod turns;
