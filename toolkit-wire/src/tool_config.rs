//! How the model may use its tools, as a request says it.

use serde_json::{Map, Value};
use toolkit_schema::SchemaLoss;

/// The fields of a request that say how the model may use its tools, and what they cannot say.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct EncodedToolConfig {
    /// The fields.
    pub fields: Map<String, Value>,
    /// What the API has no words for; the path is that in the [`ToolConfig`], as in `/parallel`.
    pub losses: Vec<SchemaLoss>,
}

impl EncodedToolConfig {
    pub(super) fn new(fields: Map<String, Value>) -> Self {
        Self { fields, losses: Vec::new() }
    }

    /// Reports that only some calls at once, or none, cannot be asked for.
    pub(super) fn lose_parallel(&mut self, reason: &str) {
        self.losses.push(SchemaLoss::new("/parallel", "parallel", reason));
    }

    /// Reports that a set of allowed tools cannot be said.
    pub(super) fn lose_allowed(&mut self, reason: &str) {
        self.losses.push(SchemaLoss::new("/choice/allowed/names", "allowed", reason));
    }
}
