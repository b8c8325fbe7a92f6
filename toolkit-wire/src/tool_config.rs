//! How the model may use its tools, as a request says it.

use crate::call::ToolConfig;
use crate::schema::SchemaLoss;
use crate::tool::{ToolDefinition, ToolKind};
use serde_json::{Map, Value};

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

impl ToolConfig {
    /// Takes over from the definitions which tools take [free text](Self::custom).
    ///
    /// ```
    /// use toolkit_core::{ApiFormat, TextFormat, ToolChoice, ToolDefinition, ToolName, ToolConfig, WireNames};
    ///
    /// let patch = ToolDefinition::custom(ToolName::new("apply_patch")?, "Patches.", TextFormat::Text);
    /// let wanted = ToolConfig::from(ToolChoice::Tool("apply_patch".to_owned())).with_kinds_of([&patch]);
    /// let encoded = ApiFormat::OpenAiChat.encode_tool_config(&wanted, &WireNames::default());
    /// assert_eq!(encoded.fields["tool_choice"]["type"], "custom");
    /// # Ok::<(), toolkit_core::NameError>(())
    /// ```
    #[must_use]
    pub fn with_kinds_of<'a>(self, definitions: impl IntoIterator<Item = &'a ToolDefinition>) -> Self {
        let custom = definitions.into_iter().filter(|tool| matches!(tool.kind, ToolKind::Custom(_)));
        self.with_custom(custom.map(|tool| tool.name.as_str()))
    }
}
