//! Kinds of tools: functions, and custom tools with free text.

use super::ToolDefinition;
use crate::call::ToolConfig;

/// The kind of a tool. Only some providers support custom tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ToolKind {
    /// A function with JSON arguments.
    #[default]
    Function,
    /// A custom tool: the model writes free text instead of JSON, and the tool receives it as the string
    /// `input` in an object. A provider without custom tools gets a function with this parameter.
    Custom(TextFormat),
}

/// The format of a custom tool's free text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TextFormat {
    /// Any text.
    #[default]
    Text,
    /// Text of the language defined by this Lark grammar.
    Lark(String),
    /// Text matching this regular expression.
    Regex(String),
}

impl ToolConfig {
    /// Adds the custom tools among `definitions` to those of [this choice](Self::custom).
    ///
    /// ```
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::{ToolChoice, ToolConfig, ToolDefinition, ToolName};
    /// use toolkit_ai::definition::TextFormat;
    /// use toolkit_ai::name::WireNames;
    ///
    /// let patch = ToolDefinition::custom(ToolName::new("apply_patch")?, "Patches.", TextFormat::Text);
    /// let wanted = ToolConfig::from(ToolChoice::Tool("apply_patch".to_owned())).with_kinds_of([&patch]);
    /// let encoded = ApiFormat::OpenAiChat.encode_tool_config(&wanted, &WireNames::default());
    /// assert_eq!(encoded.fields["tool_choice"]["type"], "custom");
    /// # Ok::<(), toolkit_ai::name::NameError>(())
    /// ```
    #[must_use]
    pub fn with_kinds_of<'a>(self, definitions: impl IntoIterator<Item = &'a ToolDefinition>) -> Self {
        let custom = definitions.into_iter().filter(|tool| matches!(tool.kind, ToolKind::Custom(_)));
        self.with_custom(custom.map(|tool| tool.name.as_str()))
    }
}
