//! Toolsets: values whose methods are tools.

use super::Tool;
use std::sync::Arc;

/// A value whose methods are tools. `#[toolset]` on an `impl` block implements it.
pub trait Toolset: Send + Sync + 'static {
    /// Returns what the tools have in common: the documentation of the `impl` block.
    fn description(&self) -> &'static str;

    /// Returns the tools, each bound to this value.
    #[must_use]
    fn tools(self: Arc<Self>) -> Vec<Arc<dyn Tool>>;
}
