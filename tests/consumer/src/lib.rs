//! A strict user of every macro: the facade under another name, no other dependency, every warning denied.
//!
//! Most of the test is that this crate compiles.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications,
    unused,
    nonstandard_style,
    clippy::pedantic
)]
#![allow(clippy::needless_pass_by_value, reason = "owned parameters such as `Option<String>` are under test")]

pub mod bare;
pub mod constraints;
pub mod generated;
pub mod params;
pub mod plain;
pub mod returns;
pub mod sets;

/// The facade under a third path.
pub use tk as kit;

#[cfg(test)]
mod tests;
