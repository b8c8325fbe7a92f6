//! Tool definitions: name, description, schemas and metadata.

use super::lane::LaneArgument;
use super::made_once::{ContractCell, OutputSchema};
use super::{TextFormat, ToolKind, ToolMetadata};
use crate::args::{Aliases, ArgumentRules, parse_value, read_arguments};
use crate::context::{StateNeed, ToolContext};
use crate::error::{BuildProblem, ToolError, ToolFault};
use crate::name::{NameError, ToolName};
use crate::output::OutputForm;
use crate::schema::__private::{Contract, Fault};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The definition of a tool.
///
/// The model reads the name, the description and the parameters; registry and dispatcher use the rest.
///
/// ```
/// use serde_json::json;
/// use toolkit_ai::{ToolDefinition, ToolName};
///
/// let parameters = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
/// let definition = ToolDefinition::new(ToolName::new("list_files")?, "Lists the files.", parameters);
/// assert_eq!(definition.parse_arguments(r#"{"limit": "5"}"#)?, json!({"limit": 5}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The tool's name in calls by the model.
    pub name: ToolName,
    /// The description for the model: what the tool does, and when to use it.
    pub description: String,
    /// The JSON Schema (draft 2020-12) of the arguments, usually an object.
    pub parameters: Value,
    /// The kind: a function, or a custom tool with free text.
    pub kind: ToolKind,
    /// The settings hidden from the model.
    pub metadata: ToolMetadata,
    pub(super) output: OutputSchema,
    /// The aliases of parameters.
    pub(super) aliases: Aliases,
    /// Whether an argument is computed for each call, so that equal arguments may mean different calls.
    pub(super) is_computed: bool,
    /// The lane argument of an adapted tool, boxed because few tools have one.
    pub(super) lane: Option<Box<LaneArgument>>,
    pub(super) state_needs: Vec<StateNeed>,
    pub(super) contract: ContractCell,
    /// Whether the tool reads its arguments by the contract, while it decodes them.
    pub(super) reads_arguments: bool,
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
            aliases: Aliases::default(),
            is_computed: false,
            lane: None,
            state_needs: Vec::new(),
            contract: ContractCell::default(),
            reads_arguments: false,
        }
    }

    /// Declares that the tool itself reads its arguments by the contract, for instance on another machine.
    /// The dispatcher then passes the text of the call.
    #[doc(hidden)]
    #[must_use]
    pub fn with_own_reading(mut self) -> Self {
        self.reads_arguments = true;
        self
    }

    /// Creates a custom tool's definition, with the model's free text as the argument `input`.
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

    /// Adds an alias: another name for a parameter in the arguments.
    ///
    /// Lanes, permissions, caches and duplicate detection treat it like the parameter's name. The tool
    /// itself must accept it. Aliases of functions and closures are added and accepted automatically.
    #[must_use]
    pub fn with_alias(mut self, alias: impl Into<String>, parameter: impl Into<String>) -> Self {
        self.aliases.insert(alias.into(), parameter.into());
        self
    }

    /// Returns the parameter with this alias, if there is one.
    #[must_use]
    pub fn parameter_named(&self, alias: &str) -> Option<&str> {
        self.aliases.get(alias)
    }

    /// Parses the arguments of a call, under the parameters' names.
    ///
    /// Near misses are coerced if the metadata allow [it](ToolMetadata::coerce). A tool with Rust types
    /// gets the published defaults of absent arguments.
    ///
    /// # Errors
    /// The arguments are no JSON object, or violate the schema. All violations are listed.
    pub fn parse_arguments(&self, arguments: &str) -> Result<Value, ToolError> {
        parse_value(&self.normal_arguments(arguments, None)?)
    }

    /// Returns the normal form of the arguments: under the parameters' names, coerced, with the published
    /// defaults.
    pub(crate) fn normal_arguments<'t>(
        &self,
        arguments: &'t str,
        context: Option<&ToolContext>,
    ) -> Result<Cow<'t, str>, ToolError> {
        read_arguments(arguments, &self.argument_rules(self.contract()?, context))
    }

    #[inline]
    pub(super) fn argument_rules<'a>(
        &'a self,
        contract: &'a Contract,
        context: Option<&'a ToolContext>,
    ) -> ArgumentRules<'a> {
        let Self { parameters: schema, aliases, metadata, .. } = self;
        ArgumentRules { schema, contract, aliases, coerce: metadata.coerce, context }
    }

    /// Returns the contract of the arguments. Fails if the schema cannot be checked; a registry refuses
    /// such a tool.
    #[inline]
    pub(crate) fn contract(&self) -> Result<&Contract, ToolError> {
        match self.made_contract() {
            Ok(contract) => Ok(contract),
            Err((path, message)) => {
                Err(ToolError::failed("its schema cannot be checked")
                    .with_details(format!("{path}: {message}")))
            }
        }
    }

    fn made_contract(&self) -> &Result<Contract, Fault> {
        self.contract.of(&self.parameters)
    }

    /// Returns whether the program [computes](crate::ArgumentTransform::computed) an argument for each
    /// call, so that equal arguments may mean different calls.
    #[must_use]
    pub fn is_computed(&self) -> bool {
        self.is_computed
    }

    /// Adds `T` to the [state](crate::ToolRegistry::with_state) types that the tool requires.
    ///
    /// [`Dispatcher::new`](crate::Dispatcher::new) refuses a registry without it.
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

    pub(crate) fn problem(&self, fault: ToolFault) -> BuildProblem {
        BuildProblem::of_tool(&self.name, self.metadata.defined_at, fault)
    }

    pub(crate) fn illegal_name(&self, error: NameError) -> BuildProblem {
        BuildProblem::IllegalName { error, defined_at: self.metadata.defined_at }
    }

    pub(crate) fn duplicated_by(&self, second: &Self) -> BuildProblem {
        BuildProblem::DuplicateName {
            name: self.name.to_string(),
            first: self.metadata.defined_at,
            second: second.metadata.defined_at,
        }
    }

    /// Removes all state requirements, for a tool with its own state.
    pub(crate) fn without_state_needs(mut self) -> Self {
        self.state_needs.clear();
        self
    }

    /// Returns the first schema fault that prevents the tool from checking its arguments.
    pub(crate) fn schema_fault(&self) -> Option<BuildProblem> {
        let (path, message) = self.made_contract().as_ref().err().cloned()?;
        Some(self.problem(ToolFault::InvalidSchema { path, message }))
    }

    /// Sets the [output schema](Self::output_schema). Neither it nor the output is checked.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::{ToolDefinition, ToolName};
    ///
    /// let definition = ToolDefinition::new(ToolName::new("count")?, "Counts.", json!({"type": "object"}))
    ///     .with_output_schema(json!({"type": "integer"}));
    /// assert_eq!(definition.output_schema(), Some(&json!({"type": "integer"})));
    /// # Ok::<(), toolkit_ai::name::NameError>(())
    /// ```
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output = OutputSchema::known(schema);
        self
    }

    /// Returns the JSON Schema (draft 2020-12) of the tool's output, if there is one.
    ///
    /// JSON output of a type with `JsonSchema` has one, but not text, media and `()`. The first call
    /// generates it. Numbers without JSON, such as NaN, are written as `null`, even against the schema.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Value> {
        self.output.get()
    }

    /// Returns the form of the tool's outputs; `None` if only they tell.
    ///
    /// It is known for a function or a closure that returns text, media or JSON, and for a tool with an
    /// output schema. Middleware may change outputs.
    #[must_use]
    pub fn output_form(&self) -> Option<OutputForm> {
        self.output.form()
    }
}
