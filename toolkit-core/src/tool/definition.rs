//! Tool definitions: name, description, schemas, metadata.

use super::ToolMetadata;
use super::lane::LaneArgument;
use crate::call::ToolConfig;
use crate::context::StateNeed;
use crate::name::ToolName;
use crate::output::SchemaFn;
use crate::schema::__private::{aliases, output_schema, unknown_pattern};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

/// The definition of a tool.
///
/// The model reads the name, the description and the parameters; registry and dispatcher read the rest.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name under which the model calls the tool.
    pub name: ToolName,
    /// The purpose of the tool, and when to use it.
    pub description: String,
    /// The JSON Schema (draft 2020-12) of the arguments, usually of an object.
    pub parameters: Value,
    /// The kind of the tool, for providers with more kinds than functions.
    pub kind: ToolKind,
    /// The settings that the model does not see.
    pub metadata: ToolMetadata,
    pub(super) output: OutputSchema,
    /// Other names of parameters, each with the parameter's own name.
    pub(super) aliases: BTreeMap<String, String>,
    /// Boxed, because only adapted tools with a lane have it.
    pub(super) lane: Option<Box<LaneArgument>>,
    pub(super) state_needs: Vec<StateNeed>,
    /// A pattern in the parameters that the tool cannot check.
    pub(super) unknown_pattern: Option<String>,
}

/// The kind of a tool, for providers with more kinds than functions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ToolKind {
    /// A function: its arguments are JSON.
    #[default]
    Function,
    /// A tool that takes one free text. Its parameters are an object with the one string `input`, which other
    /// providers see and the tool receives.
    Custom(TextFormat),
}

/// The format of a custom tool's text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
    /// Creates a definition with default metadata and without an output schema.
    #[must_use]
    pub fn new(name: ToolName, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name,
            description: description.into(),
            parameters,
            kind: ToolKind::Function,
            metadata: ToolMetadata::default(),
            output: OutputSchema::default(),
            aliases: BTreeMap::new(),
            lane: None,
            state_needs: Vec::new(),
            unknown_pattern: None,
        }
    }

    /// Creates the definition of a custom tool, which receives the model's free text as the argument `input`.
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

    /// Adds another name for a parameter. Lanes, permissions, caches and duplicate detection treat both alike.
    ///
    /// Accepting the alias is up to the tool; generated tools add theirs.
    #[must_use]
    pub fn with_alias(mut self, alias: impl Into<String>, parameter: impl Into<String>) -> Self {
        self.aliases.insert(alias.into(), parameter.into());
        self
    }

    /// Returns the parameter that an alias stands for; `None` if the name is no alias.
    #[must_use]
    pub fn parameter_named(&self, alias: &str) -> Option<&str> {
        self.aliases.get(alias).map(String::as_str)
    }

    /// Adds a type of [state](crate::ToolRegistry::with_state) that the tool requires.
    ///
    /// [`Dispatcher::new`](crate::Dispatcher::new) refuses a registry that lacks it.
    #[must_use]
    pub fn with_state_need<T: ?Sized + 'static>(mut self) -> Self {
        self.state_needs.push(StateNeed::of::<T>());
        self
    }

    /// Returns the types of state that the tool requires.
    #[must_use]
    pub fn state_needs(&self) -> &[StateNeed] {
        &self.state_needs
    }

    /// Removes the state needs, for a tool with state elsewhere.
    pub(crate) fn without_state_needs(mut self) -> Self {
        self.state_needs.clear();
        self
    }

    /// Returns a pattern in the parameters that the tool cannot check.
    pub(crate) fn unknown_pattern(&self) -> Option<&str> {
        self.unknown_pattern.as_deref()
    }

    /// Adds the aliases that a schema keeps for its checks, and notes what it cannot check.
    pub(super) fn add_aliases_of(&mut self, checked: Option<&Value>) {
        self.unknown_pattern = unknown_pattern(&self.parameters).map(str::to_owned);
        let aliases = checked.into_iter().flat_map(aliases).map(|(alias, name)| (alias.into(), name.into()));
        self.aliases.extend(aliases);
    }

    /// Sets the [output schema](Self::output_schema), unchecked.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::{ToolDefinition, ToolName};
    ///
    /// let definition = ToolDefinition::new(ToolName::new("count")?, "Counts.", json!({"type": "object"}))
    ///     .with_output_schema(json!({"type": "integer"}));
    /// assert_eq!(definition.output_schema(), Some(&json!({"type": "integer"})));
    /// # Ok::<(), toolkit::name::NameError>(())
    /// ```
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output = OutputSchema::known(schema);
        self
    }

    /// Returns the JSON Schema (draft 2020-12) of the tool's output, if it is JSON of a described type.
    ///
    /// Text, media and `()` have none, nor has a type without `JsonSchema`. The schema is generated by the first
    /// call. Numbers that JSON cannot express, such as NaN, are written as `null`, whatever the schema says.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Value> {
        self.output.get()
    }
}

/// A schema that is generated on first use.
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

impl ToolConfig {
    /// Marks the tools that take [free text](Self::custom), according to their definitions.
    ///
    /// ```
    /// use toolkit::{ApiFormat, ToolChoice, ToolConfig, ToolDefinition, ToolName};
    /// use toolkit::definition::TextFormat;
    /// use toolkit::name::WireNames;
    ///
    /// let patch = ToolDefinition::custom(ToolName::new("apply_patch")?, "Patches.", TextFormat::Text);
    /// let wanted = ToolConfig::from(ToolChoice::Tool("apply_patch".to_owned())).with_kinds_of([&patch]);
    /// let encoded = ApiFormat::OpenAiChat.encode_tool_config(&wanted, &WireNames::default());
    /// assert_eq!(encoded.fields["tool_choice"]["type"], "custom");
    /// # Ok::<(), toolkit::name::NameError>(())
    /// ```
    #[must_use]
    pub fn with_kinds_of<'a>(self, definitions: impl IntoIterator<Item = &'a ToolDefinition>) -> Self {
        let custom = definitions.into_iter().filter(|tool| matches!(tool.kind, ToolKind::Custom(_)));
        self.with_custom(custom.map(|tool| tool.name.as_str()))
    }
}
