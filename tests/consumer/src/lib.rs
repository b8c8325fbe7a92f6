//! A strict user of every macro: the facade alone, also renamed, every warning denied.
//!
//! Most of the test is that it compiles.

#![allow(clippy::needless_pass_by_value, reason = "owned parameters such as `Option<String>` are under test")]
#![allow(
    clippy::derive_partial_eq_without_eq,
    clippy::missing_const_for_fn,
    clippy::use_self,
    reason = "they are about the code of this crate, not about generated code"
)]

extern crate toolkit_ai as tk; // For `crate = ::tk`.

pub mod bare;
pub mod generated;
pub mod params;
pub mod plain;
pub mod returns;
pub mod sets;
pub mod shadowed;

/// The facade under a third path.
pub use toolkit_ai as kit;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests;
