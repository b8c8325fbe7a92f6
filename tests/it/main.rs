//! What users of the library see, in one test binary.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod agreement;
mod arguments;
mod closures;
mod constraints;
mod dispatch;
mod failures;
mod live;
mod live_registry;
mod metadata;
mod middleware;
mod middleware_context;
mod names;
mod output_schemas;
mod outputs;
mod recorded;
mod registry;
mod registry_changes;
mod round_trip;
mod scheduling;
mod schemas;
mod search;
mod state;
mod strict;
mod testing;
mod think;
mod tool_context;
mod tool_macro;
mod truncation;
