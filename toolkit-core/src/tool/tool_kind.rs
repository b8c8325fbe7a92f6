//! Kinds of tools: functions, and custom tools with free text as their input.

use super::ToolDefinition;
use crate::call::ToolConfig;

/// The kind of a tool. Some providers support custom tools in addition to functions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ToolKind {
    /// A function with JSON arguments.
    #[default]
    Function,
    /// A custom tool: the model writes free text instead of JSON. The tool receives an object with the text
    /// as the string `input`. A provider without custom tools gets a function with the parameter `input`.
    Custom(TextFormat),
}

/// The format of the free text for a custom tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TextFormat {
    /// Any text.
    #[default]
    Text,
    /// Text of the language defined by this grammar, in Lark syntax.
    Lark(String),
    /// Text matching this regular expression.
    Regex(String),
}

impl ToolConfig {
    /// Adds the custom tools among `definitions` to the [custom tools](Self::custom) of this choice.
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
