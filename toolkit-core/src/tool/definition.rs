//! What a tool says about itself.

use super::ToolMetadata;
use crate::name::ToolName;
use serde_json::{Value, json};

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
    /// The JSON Schema of what the tool gives back, if it is known.
    pub output: Option<Value>,
    /// How providers that know more kinds of tools than functions take it.
    pub kind: ToolKind,
    /// What the model does not see.
    pub metadata: ToolMetadata,
}

/// How a tool is offered to providers that know more kinds of tools than functions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ToolKind {
    /// A function: its arguments are JSON.
    #[default]
    Function,
    /// A tool that the model hands one free text. Its parameters are an object with the one text
    /// `input`, which is how all other providers offer it and how it is called in the end.
    Custom(TextFormat),
}

/// What the free text of a custom tool looks like.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TextFormat {
    /// Any text.
    #[default]
    Text,
    /// Text that a grammar in the syntax of Lark produces.
    Lark(String),
    /// Text that matches a regular expression.
    Regex(String),
}

impl ToolDefinition {
    /// A definition with the default metadata.
    #[must_use]
    pub fn new(name: ToolName, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name,
            description: description.into(),
            parameters,
            output: None,
            kind: ToolKind::Function,
            metadata: ToolMetadata::default(),
        }
    }

    /// The definition of a custom tool: the model hands it one free text, which arrives as the argument
    /// `input`.
    #[must_use]
    pub fn custom(name: ToolName, description: impl Into<String>, format: TextFormat) -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
            "additionalProperties": false,
        });
        Self { kind: ToolKind::Custom(format), ..Self::new(name, description, parameters) }
    }

    /// Sets the JSON Schema of what the tool gives back.
    #[must_use]
    pub fn with_output(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// Replaces the metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: ToolMetadata) -> Self {
        self.metadata = metadata;
        self
    }
}
