//! A client wherever tools are taken.

mod follow;
mod registry_source;

pub use follow::Following;
