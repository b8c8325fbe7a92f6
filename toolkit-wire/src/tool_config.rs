//! The request fields for tool choice and parallel calls.

use serde_json::{Map, Value};
use toolkit_schema::SchemaLoss;

/// The request fields for a [`ToolConfig`](toolkit_core::ToolConfig), with the losses.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct EncodedToolConfig {
    /// The fields.
    pub fields: Map<String, Value>,
    /// The settings lost because the API cannot express them. Their paths start at the `ToolConfig`, as in
    /// `/parallel`.
    pub losses: Vec<SchemaLoss>,
}

impl EncodedToolConfig {
    pub(super) fn new(fields: Map<String, Value>) -> Self {
        Self { fields, losses: Vec::new() }
    }

    /// Adds the loss of `setting`, which the API cannot express.
    pub(super) fn lose(mut self, path: &str, setting: &str, reason: &str) -> Self {
        self.losses.push(SchemaLoss::new(path, setting, reason));
        self
    }
}
