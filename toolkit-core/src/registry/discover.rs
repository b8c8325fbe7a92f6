//! Finding the tools that the linker has collected.

use super::ToolRegistry;
use crate::error::BuildError;
use crate::tool::StaticTool;
use std::sync::Arc;

/// What a `#[tool]` function hands to the linker.
#[derive(Debug)]
pub struct Registration(pub &'static StaticTool);

inventory::collect!(Registration);

impl ToolRegistry {
    /// A registry of every `#[tool]` function that is linked into the program.
    ///
    /// A crate that is a dependency, but is named nowhere in the source, is not linked; write
    /// `use my_tools as _;`, or list its tools with [`tools!`](crate::tools).
    ///
    /// # Errors
    /// [`BuildError`] with every name that is not legal or is there twice.
    pub fn discover() -> Result<Self, BuildError> {
        let mut found: Vec<&StaticTool> = inventory::iter::<Registration>().map(|found| found.0).collect();
        // The linker's order is not fixed; with this one a collision always names the same tool first.
        found.sort_by_key(|tool| tool.sort_key());
        let mut registry = Self::new();
        for tool in found {
            registry.admit(Arc::new(tool.tool()));
        }
        registry.check().map(|()| registry)
    }
}
