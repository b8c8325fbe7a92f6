//! The request fields for tool choice and parallel tool calls.

use crate::facts::Api;
use serde_json::{Map, Value};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_schema::SchemaLoss;

pub(crate) trait ChoiceCodec: Api {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig;
}

/// The request fields of a [`ToolConfig`](toolkit_core::ToolConfig), and its lost settings.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct EncodedToolConfig {
    /// The fields to set in the request.
    pub fields: Map<String, Value>,
    /// The settings that the API cannot express. Paths start at the `ToolConfig`, as in `/parallel`.
    pub losses: Vec<SchemaLoss>,
}

impl EncodedToolConfig {
    pub(crate) fn new(fields: Map<String, Value>) -> Self {
        Self { fields, losses: Vec::new() }
    }

    pub(crate) fn lose(mut self, path: &str, setting: &str, reason: &str) -> Self {
        self.losses.push(SchemaLoss::new(path, setting, reason));
        self
    }

    /// Reports the limit to one call at a time as lost, if `wanted` has it.
    pub(crate) fn without_limit(self, wanted: &ToolConfig) -> Self {
        if wanted.parallel != Some(false) {
            return self;
        }
        self.lose("/parallel", "parallel", "the API does not limit the number of calls")
    }
}

/// Returns the nearest choice without a set of allowed tools, and whether the set is lost.
pub(crate) fn without_set(choice: &ToolChoice) -> (ToolChoice, bool) {
    let ToolChoice::Allowed { names, required } = choice else { return (choice.clone(), false) };
    match (names.as_slice(), required) {
        ([], false) => (ToolChoice::None, false),
        ([only], true) => (ToolChoice::Tool(only.clone()), false),
        (_, false) => (ToolChoice::Auto, true),
        (_, true) => (ToolChoice::Required, true),
    }
}
