//! The programs of the README and of the guide, as a new program sees them.
#![cfg_attr(doctest, allow(missing_docs))]

/// The README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The pages of the guide; `build.rs` makes an item of each.
#[cfg(doctest)]
pub mod guide {
    include!(concat!(env!("OUT_DIR"), "/pages.rs"));
}
