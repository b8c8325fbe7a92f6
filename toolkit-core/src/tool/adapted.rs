//! A tool that is shown otherwise than it shows itself.

use super::{Tool, ToolDefinition, ToolFuture, ToolMetadata};
use crate::context::{StateNeed, ToolContext};
use crate::name::ToolName;
use std::fmt;
use std::sync::Arc;

/// A tool under another name, with another description or other metadata. The tool itself is shared, and its
/// arguments are read as before.
///
/// ```
/// use toolkit_core::{AdaptedTool, FunctionTool, Tool, ToolName, ToolRegistry};
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
///
/// let add = FunctionTool::from_fn("add", "Adds.", |_: Nothing| 1)?;
/// let plus = AdaptedTool::new(add).with_name(ToolName::new("plus")?).with_description("Counts on.");
/// assert_eq!(plus.definition().description, "Counts on.");
/// assert!(ToolRegistry::from_tools([plus])?.contains("plus"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AdaptedTool {
    tool: Arc<dyn Tool>,
    definition: ToolDefinition,
}

impl AdaptedTool {
    /// The tool as it shows itself.
    #[must_use]
    pub fn new(tool: impl Tool + 'static) -> Self {
        Self::of(Arc::new(tool))
    }

    /// Like [`new`](Self::new), with a tool that is shared already.
    #[must_use]
    pub fn of(tool: Arc<dyn Tool>) -> Self {
        Self { definition: tool.definition().clone(), tool }
    }

    /// Replaces the name.
    #[must_use]
    pub fn with_name(mut self, name: ToolName) -> Self {
        self.definition.name = name;
        self
    }

    /// Replaces the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = description.into();
        self
    }

    /// Changes the metadata. What happens to unknown arguments, and whether values are coerced, the tool itself
    /// decides.
    #[must_use]
    pub fn map_metadata(mut self, change: impl FnOnce(ToolMetadata) -> ToolMetadata) -> Self {
        self.definition.metadata = change(self.definition.metadata);
        self
    }
}

impl Tool for AdaptedTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        self.tool.call(arguments, context)
    }

    fn parameter_named(&self, name: &str) -> Option<&str> {
        self.tool.parameter_named(name)
    }

    fn state_needs(&self) -> &[StateNeed] {
        self.tool.state_needs()
    }
}

impl fmt::Debug for AdaptedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = &self.tool.definition().name;
        f.debug_struct("AdaptedTool").field("name", &self.definition.name).field("tool", own).finish()
    }
}
