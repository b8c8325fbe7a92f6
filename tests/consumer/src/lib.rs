//! Every macro of the facade as a strict user writes it: the facade under another name, no other
//! dependency, and no warning allowed. That it compiles is most of the test.

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
#![allow(
    clippy::needless_pass_by_value,
    reason = "a tool cannot take what this lint proposes, as `Option<&T>`"
)]

pub mod bare;
pub mod constraints;
pub mod made;
pub mod params;
pub mod plain;
pub mod returns;
pub mod sets;

/// The facade under a third name.
pub use tk as kit;

#[cfg(test)]
mod tests;
