//! The tools of a server: their lists as they arrive, checked, compared and counted.

mod catalog;
mod change;
mod deep_lists;
#[cfg(feature = "client-http")]
mod raw_lists;
mod tool_count;

pub(super) use catalog::{Catalog, RemoteTool};
pub use change::{McpToolChange, ToolListChange};
pub(super) use deep_lists::cut_deep_values;
#[cfg(feature = "client-http")]
pub(super) use raw_lists::RawLists;
pub(super) use tool_count::ToolCount;
pub(crate) use tool_count::ToolTotal;
