//! The programs of README and guide, as in a new program.
#![cfg_attr(doctest, allow(missing_docs))]

/// The README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The guide's pages, of which `build.rs` makes items.
#[cfg(doctest)]
pub mod guide {
    include!(concat!(env!("OUT_DIR"), "/pages.rs"));
}
