//! The fields of a request for tool choice and parallel calls.

use serde_json::{Map, Value};
use toolkit_schema::SchemaLoss;

/// The fields of a request that hold a [`ToolConfig`](toolkit_core::ToolConfig), and the losses.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct EncodedToolConfig {
    /// The fields.
    pub fields: Map<String, Value>,
    /// Settings that the API cannot express; the path is that in the `ToolConfig`, as in `/parallel`.
    pub losses: Vec<SchemaLoss>,
}

impl EncodedToolConfig {
    pub(super) fn new(fields: Map<String, Value>) -> Self {
        Self { fields, losses: Vec::new() }
    }

    /// Reports that the API cannot limit parallel calls.
    pub(super) fn lose_parallel(&mut self, reason: &str) {
        self.losses.push(SchemaLoss::new("/parallel", "parallel", reason));
    }

    /// Reports that the API cannot express a set of allowed tools.
    pub(super) fn lose_allowed(&mut self, reason: &str) {
        self.losses.push(SchemaLoss::new("/choice/allowed/names", "allowed", reason));
    }
}
