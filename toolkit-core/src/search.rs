//! Tool search: ranking of tools for a query, and the two search tools.
//!
//! Deferred tools are left out of requests, and the model searches for them. The registry builds the index
//! and publishes the search tools; this module does not depend on it.

mod catalog;
mod deferred;
mod index;
mod options;
mod stem;
mod tools;
mod words;

pub(crate) use catalog::Catalog;
pub(crate) use deferred::{DeferredCall, target_of};
pub(crate) use index::Index;
pub use index::ToolMatch;
pub use options::{SearchOptions, SearchWeights};
pub(crate) use tools::search_tools;

pub(crate) use crate::name::CALL_DEFERRED;
pub(crate) const DISCOVER_TOOLS: &str = "discover_tools";

/// The names of the search tools, sorted.
pub(crate) const SEARCH_TOOLS: [&str; 2] = [CALL_DEFERRED, DISCOVER_TOOLS];
