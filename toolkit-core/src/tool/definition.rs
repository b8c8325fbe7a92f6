//! What a tool says about itself.

use super::ToolMetadata;
use crate::name::ToolName;
use serde_json::Value;

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
