//! What users of the library see, in one test binary.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod agreement;
mod arguments;
mod closures;
mod constraints;
mod dispatch;
mod live;
mod metadata;
mod middleware;
mod names;
mod output_schemas;
mod outputs;
mod recorded;
mod registry;
mod scheduling;
mod schemas;
mod tool_macro;
