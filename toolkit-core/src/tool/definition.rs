//! What a tool says about itself.

use super::ToolMetadata;
use crate::name::ToolName;
use crate::output::SchemaFn;
use crate::schema::__private::output_schema;
use serde_json::{Value, json};
use std::fmt;
use std::sync::OnceLock;

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
    /// How providers that know more kinds of tools than functions take it.
    pub kind: ToolKind,
    /// What the model does not see.
    pub metadata: ToolMetadata,
    pub(super) output: OutputSchema,
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
    /// A definition with the default metadata and without an output schema.
    #[must_use]
    pub fn new(name: ToolName, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name,
            description: description.into(),
            parameters,
            kind: ToolKind::Function,
            metadata: ToolMetadata::default(),
            output: OutputSchema::default(),
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

    /// Replaces the metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: ToolMetadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Sets the [output schema](Self::output_schema). It is not looked at.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_core::{ToolDefinition, ToolName};
    ///
    /// let definition = ToolDefinition::new(ToolName::new("count")?, "Counts.", json!({"type": "object"}))
    ///     .with_output_schema(json!({"type": "integer"}));
    /// assert_eq!(definition.output_schema(), Some(&json!({"type": "integer"})));
    /// # Ok::<(), toolkit_core::NameError>(())
    /// ```
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output = OutputSchema::known(schema);
        self
    }

    /// The JSON Schema (draft 2020-12) of what the tool returns when it does not fail, if it returns JSON and
    /// its type says how that looks. Text, media and nothing have none, nor has a type without `JsonSchema`.
    ///
    /// It is made when it is first asked for. A number that JSON does not know, such as a NaN, is written as
    /// `null`, whatever the schema says.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Value> {
        self.output.get()
    }
}

/// A schema that is made when it is first asked for.
#[derive(Clone, Default)]
pub(super) struct OutputSchema {
    of_type: Option<SchemaFn>,
    made: OnceLock<Option<Value>>,
}

impl OutputSchema {
    /// The schema itself.
    pub(super) fn known(schema: Value) -> Self {
        Self { of_type: None, made: OnceLock::from(Some(schema)) }
    }

    /// The schema of a type.
    pub(super) const fn of_type(of_type: Option<SchemaFn>) -> Self {
        Self { of_type, made: OnceLock::new() }
    }

    fn get(&self) -> Option<&Value> {
        let make = || self.of_type.and_then(output_schema);
        self.made.get_or_init(make).as_ref()
    }
}

impl PartialEq for OutputSchema {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
