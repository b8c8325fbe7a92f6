//! Tool definitions: name, description, schemas and metadata.

use super::ToolMetadata;
use super::lane::LaneArgument;
use crate::args::parse_value;
use crate::call::ToolConfig;
use crate::context::StateNeed;
use crate::error::{BuildProblem, ToolError, ToolFault};
use crate::name::{NameError, ToolName};
use crate::output::SchemaFn;
use crate::schema::__private::{
    Fault, Json, aliases, fault, output_schema, roundings, strip_aliases, strip_unusable,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

/// The definition of a tool.
///
/// The model reads the name, the description and the parameters. The registry and the dispatcher use all
/// other fields.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name of the tool in calls by the model.
    pub name: ToolName,
    /// The description for the model: the purpose of the tool, and when to use the tool.
    pub description: String,
    /// The JSON Schema (draft 2020-12) of the arguments. The arguments are usually an object.
    pub parameters: Value,
    /// The kind of the tool: a function, or a custom tool with free text as input.
    pub kind: ToolKind,
    /// The settings hidden from the model.
    pub metadata: ToolMetadata,
    pub(super) output: OutputSchema,
    /// The aliases of parameters. Each alias is mapped to the name of its parameter.
    pub(super) aliases: BTreeMap<String, String>,
    /// The names accepted by the arguments type but missing from the schema. They are aliases of parameters that are
    /// not known. `None` if these names cannot be known, as for an enum or a type with `#[serde(flatten)]`.
    pub(super) unlisted: Option<Vec<&'static str>>,
    /// Whether the program computes an argument for each call, so equal arguments may mean different calls.
    pub(super) is_computed: bool,
    /// The lane argument of an adapted tool. Boxed, because few tools have a lane argument.
    pub(super) lane: Option<Box<LaneArgument>>,
    pub(super) state_needs: Vec<StateNeed>,
    /// The parameters schema with the aliases of nested properties; `None` if there are no such aliases.
    pub(super) with_aliases: Option<Value>,
    /// The names of the parameters for which `null` means the same as absence, although the schema may accept `null`.
    pub(super) none_if_null: Vec<&'static str>,
    /// The first fault of the parameters schema that prevents the tool from checking its arguments.
    pub(super) schema_fault: Option<Fault>,
}

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
            unlisted: Some(Vec::new()),
            is_computed: false,
            lane: None,
            state_needs: Vec::new(),
            with_aliases: None,
            none_if_null: Vec::new(),
            schema_fault: None,
        }
    }

    /// Creates the definition of a custom tool. The tool receives the model's free text as the argument
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

    /// Adds an alias for a parameter: another name accepted in the arguments.
    ///
    /// Lanes, permissions, caches and duplicate detection treat the alias like the parameter's name. The tool
    /// itself must accept arguments under the alias. Tools made from functions and closures add and accept
    /// the aliases of parameters automatically.
    #[must_use]
    pub fn with_alias(mut self, alias: impl Into<String>, parameter: impl Into<String>) -> Self {
        self.aliases.insert(alias.into(), parameter.into());
        self
    }

    /// Returns the name of the parameter with this alias; `None` if `alias` is not an alias.
    #[must_use]
    pub fn parameter_named(&self, alias: &str) -> Option<&str> {
        self.aliases.get(alias).map(String::as_str)
    }

    /// Parses the arguments of a call into a JSON object with the parameters' names.
    ///
    /// If the metadata allow [coercion](ToolMetadata::coerce), near misses are coerced. The arguments are not
    /// checked against the schema.
    ///
    /// # Errors
    /// The arguments are not a JSON object, or the value would hold another integer beyond 64 bits than the
    /// arguments, where the schema does not accept any `number`.
    pub fn parse_arguments(&self, arguments: &str) -> Result<Value, ToolError> {
        let object = super::arguments_json(arguments, self, |_, coerce| coerce)?;
        let rounded = Json::parse(&object).map(|value| roundings((&self.parameters).into(), &value));
        match rounded.unwrap_or_default() {
            rounded if rounded.is_empty() => parse_value(&object),
            rounded => Err(ToolError::invalid_arguments(rounded)),
        }
    }

    /// Returns whether the program [computes](crate::ArgumentTransform::computed) an argument for each call.
    /// Equal arguments from the model may then mean different calls.
    #[must_use]
    pub fn is_computed(&self) -> bool {
        self.is_computed
    }

    /// Adds `T` to the types of [state](crate::ToolRegistry::with_state) required by the tool.
    ///
    /// [`Dispatcher::new`](crate::Dispatcher::new) refuses a registry without state of this type.
    #[must_use]
    pub fn with_state_need<T: ?Sized + 'static>(mut self) -> Self {
        self.state_needs.push(StateNeed::of::<T>());
        self
    }

    /// Returns the types of state that the tool reads.
    #[must_use]
    pub fn state_needs(&self) -> &[StateNeed] {
        &self.state_needs
    }

    /// Returns whether the arguments type may accept `name` although the schema does not list `name`.
    pub(super) fn may_be_unlisted(&self, name: &str) -> bool {
        self.unlisted.as_ref().is_none_or(|names| names.contains(&name))
    }

    /// Converts `fault` to a build problem of this tool.
    pub(crate) fn problem(&self, fault: ToolFault) -> BuildProblem {
        BuildProblem::of_tool(&self.name, self.metadata.defined_at, fault)
    }

    /// Converts `error` to the build problem of an illegal name for this tool.
    pub(crate) fn illegal_name(&self, error: NameError) -> BuildProblem {
        BuildProblem::IllegalName { error, defined_at: self.metadata.defined_at }
    }

    /// Returns the build problem of another tool with the name of this tool.
    pub(crate) fn duplicated_by(&self, second: &Self) -> BuildProblem {
        BuildProblem::DuplicateName {
            name: self.name.to_string(),
            first: self.metadata.defined_at,
            second: second.metadata.defined_at,
        }
    }

    /// Removes all state requirements, for a tool that brings its own state.
    pub(crate) fn without_state_needs(mut self) -> Self {
        self.state_needs.clear();
        self
    }

    /// Returns the first fault of the parameters schema that prevents the tool from checking its arguments.
    pub(crate) fn schema_fault(&self) -> Option<BuildProblem> {
        let (path, message) = self.schema_fault.clone()?;
        Some(self.problem(ToolFault::InvalidSchema { path, message }))
    }

    /// Moves the aliases of properties from the schema to other fields of the definition, and records the first fault
    /// of the schema.
    pub(super) fn strip_aliases(&mut self) {
        self.with_aliases = strip_aliases(&mut self.parameters);
        self.schema_fault = strip_unusable(&mut self.parameters)
            .or_else(|| fault(&self.parameters))
            .or_else(|| no_object(&self.parameters));
        let aliases = self.with_aliases.iter().flat_map(aliases);
        self.aliases.extend(aliases.map(|(alias, name)| (alias.into(), name.into())));
    }

    /// Sets the [output schema](Self::output_schema). Neither the schema nor the tool's output is checked.
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

    /// Returns the JSON Schema (draft 2020-12) of the tool's output; `None` if there is no output schema.
    ///
    /// Output schemas exist for JSON output of a type with `JsonSchema`, but not for text, media and `()`.
    /// The schema is generated by the first call of this method. Numbers not representable in JSON, such as
    /// NaN, are written as `null`, even if the schema does not allow `null`.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Value> {
        self.output.get()
    }
}

/// An output schema, generated on first use.
#[derive(Clone, Default)]
pub(super) struct OutputSchema {
    of_type: Option<SchemaFn>,
    made: OnceLock<Option<Value>>,
}

impl OutputSchema {
    /// Creates an output schema from a finished schema.
    pub(super) fn known(schema: Value) -> Self {
        Self { of_type: None, made: OnceLock::from(Some(schema)) }
    }

    /// Creates an output schema from the schema function of a type.
    pub(super) const fn of_type(of_type: Option<SchemaFn>) -> Self {
        Self { of_type, made: OnceLock::new() }
    }

    fn get(&self) -> Option<&Value> {
        let make = || self.of_type.and_then(output_schema);
        self.made.get_or_init(make).as_ref()
    }
}

#[expect(clippy::missing_trait_methods, reason = "`ne` is never written by hand")]
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
    /// Adds the custom tools among `definitions` to the [custom tools](Self::custom) of this choice.
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

/// Returns a fault if the parameters schema accepts no object.
fn no_object(schema: &Value) -> Option<Fault> {
    let ty = schema.get("type")?;
    let is_object =
        ty == "object" || ty.as_array().is_some_and(|types| types.iter().any(|ty| ty == "object"));
    let message = || {
        format!(
            "arguments are an object, but this type is {ty}; with `flatten`, the type is a struct or a map"
        )
    };
    (!is_object).then(|| ("#".to_owned(), message()))
}
