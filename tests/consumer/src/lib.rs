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
    // Lints that are off by default.
    absolute_paths_not_starting_with_crate,
    closure_returning_async_block,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    if_let_rescope,
    impl_trait_redundant_captures,
    let_underscore_drop,
    macro_use_extern_crate,
    meta_variable_misuse,
    missing_copy_implementations,
    missing_unsafe_on_extern,
    non_ascii_idents,
    redundant_imports,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unsafe_code,
    unstable_features,
    unused_import_braces,
    unused_lifetimes,
    unused_macro_rules,
    unused_results,
    variant_size_differences,
    clippy::pedantic,
    clippy::nursery,
    clippy::allow_attributes_without_reason,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used
)]
#![allow(clippy::needless_pass_by_value, reason = "owned parameters such as `Option<String>` are under test")]
#![allow(
    clippy::derive_partial_eq_without_eq,
    clippy::missing_const_for_fn,
    clippy::use_self,
    reason = "they are about the code of this crate, not about generated code"
)]

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
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests;
