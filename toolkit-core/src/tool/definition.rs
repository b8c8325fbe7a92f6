//! What a tool says about itself.

use crate::error::Location;
use crate::name::ToolName;
use serde_json::Value;
use std::time::Duration;

/// What a tool says about itself: the model reads the name, the description and the parameters, the
/// program the metadata.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name that the model calls.
    pub name: ToolName,
    /// What the tool does and when to use it.
    pub description: String,
    /// The JSON Schema (draft 2020-12) of the arguments; nearly always that of an object.
    pub parameters: Value,
    /// What the model does not see.
    pub metadata: ToolMetadata,
}

impl ToolDefinition {
    /// A definition with the default metadata.
    #[must_use]
    pub fn new(name: ToolName, description: impl Into<String>, parameters: Value) -> Self {
        Self { name, description: description.into(), parameters, metadata: ToolMetadata::default() }
    }

    /// Replaces the metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: ToolMetadata) -> Self {
        self.metadata = metadata;
        self
    }
}

/// What the program knows about a tool and the model does not see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ToolMetadata {
    /// Whether the function is `async`.
    pub is_async: bool,
    /// How long one call may run; `None` leaves it to the dispatcher and the registry.
    pub timeout: Option<Duration>,
    /// Where the tool is defined, if that is known.
    pub defined_at: Option<Location>,
}
