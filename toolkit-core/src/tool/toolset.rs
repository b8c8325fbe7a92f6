//! Toolsets: values with methods as tools.

use super::{FunctionTool, Tool};
use std::sync::Arc;

/// A value with methods as tools. `#[toolset]` on an `impl` block implements this trait.
pub trait Toolset: Send + Sync + 'static {
    /// Returns the common description of the tools: the documentation of the `impl` block.
    fn description(&self) -> &'static str;

    /// Returns the tools, each bound to this value.
    #[must_use]
    fn tools(self: Arc<Self>) -> Vec<Arc<dyn Tool>>;
}

/// Converts tools to shared trait objects, for generated code.
#[doc(hidden)]
#[must_use]
pub fn shared(tools: Vec<FunctionTool>) -> Vec<Arc<dyn Tool>> {
    tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
}
