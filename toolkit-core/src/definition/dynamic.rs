//! Dynamic tools: schemas known only at run time.

use super::closure::{ClosureReturn, legal_name};
use super::made_once::OutputSchema;
use super::{Tool, ToolDefinition, ToolFuture, ToolMetadata, ToolSource, check_by_call};
use crate::args::parse_value;
use crate::context::ToolContext;
use crate::error::{BuildError, BuildProblem, Location, ToolError, ToolFault};
use crate::name::ToolName;
use crate::output::{OutputForm, OutputType};
use crate::schema::{CompiledSchema, SchemaError};
use serde_json::Value;
use std::sync::Arc;

type DynamicHandler = dyn Fn(Value, &ToolContext) -> ToolFuture<'static> + Send + Sync;

/// A tool with a schema known only at run time, for instance from a server.
///
/// The schema is checked when the tool is created. A JSON Schema validator checks each call, and lists up
/// to 64 violations. The draft is 2020-12 unless `$schema` names another. Remote references are not
/// fetched.
///
/// The handler receives the arguments as a JSON value: an object, or whatever the schema describes. Invalid
/// JSON and duplicate member names, at any depth, are refused. If the schema describes an object, empty
/// text and `null` count as an empty one.
///
/// An integer beyond 64 bits is refused if a [`Value`] would hold another number. For longer integers, such
/// as ids, use strings.
///
/// ```
/// use serde_json::{Value, json};
/// use toolkit_ai::{DynamicTool, ToolRegistry};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let schema = json!({
///     "type": "object", "required": ["city"], "additionalProperties": false,
///     "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}}
/// });
/// let weather = DynamicTool::new("weather", "The weather.", schema, |args: Value| async move {
///     format!("{}: clear", args["city"])
/// })?;
/// let registry = ToolRegistry::from_tools([weather])?;
/// let error = registry.call("weather", r#"{"town": "Oslo", "days": 9}"#).await.unwrap_err();
/// assert_eq!(error.violations().len(), 3); // `town` is unknown, `days` too large, `city` missing
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct DynamicTool {
    definition: Arc<ToolDefinition>,
    schema: Arc<CompiledSchema>,
    handler: Arc<DynamicHandler>,
}

impl DynamicTool {
    /// Creates a tool from a JSON Schema and a handler.
    ///
    /// The handler returns a value with [`IntoToolOutput`](crate::IntoToolOutput), or a future of one.
    ///
    /// # Errors
    /// The name is illegal, or the schema has faults; the error lists all.
    #[track_caller]
    pub fn new<F, Return, Kind>(
        name: &str,
        description: impl Into<String>,
        schema: Value,
        handler: F,
    ) -> Result<Self, BuildError>
    where
        F: Fn(Value) -> Return + Send + Sync + 'static,
        Return: ClosureReturn<Kind>,
    {
        let handler: Arc<DynamicHandler> = Arc::new(move |args, _| handler(args).into_call());
        let tool = Self::make(name, description.into(), schema, Return::IS_ASYNC, handler)?;
        Ok(tool.with_form(Return::FORM))
    }

    /// Creates a tool from a JSON Schema and a handler that takes the [`ToolContext`].
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use toolkit_ai::{DynamicTool, ToolContext};
    ///
    /// let schema = json!({"type": "array", "items": {"type": "number"}});
    /// let sum = DynamicTool::new_with_context("sum", "Sums.", schema, |args: Value, context: ToolContext| {
    ///     let numbers = args.as_array().into_iter().flatten();
    ///     format!("{}: {}", context.tool_name(), numbers.filter_map(Value::as_f64).sum::<f64>())
    /// })?;
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// The name is illegal, or the schema has faults; the error lists all.
    #[track_caller]
    pub fn new_with_context<F, Return, Kind>(
        name: &str,
        description: impl Into<String>,
        schema: Value,
        handler: F,
    ) -> Result<Self, BuildError>
    where
        F: Fn(Value, ToolContext) -> Return + Send + Sync + 'static,
        Return: ClosureReturn<Kind>,
    {
        let handler: Arc<DynamicHandler> =
            Arc::new(move |args, context| handler(args, context.clone()).into_call());
        let tool = Self::make(name, description.into(), schema, Return::IS_ASYNC, handler)?;
        Ok(tool.with_form(Return::FORM))
    }

    #[track_caller]
    fn make(
        name: &str,
        description: String,
        schema: Value,
        is_async: bool,
        handler: Arc<DynamicHandler>,
    ) -> Result<Self, BuildError> {
        let defined_at = Some(Location::caller());
        let name = legal_name(name, defined_at)?;
        let compiled =
            CompiledSchema::new(&schema).map_err(|faults| wrong_schema(&name, faults, "", defined_at))?;
        let mut definition = ToolDefinition::new(name, description, schema);
        definition.metadata.is_async = is_async;
        definition.metadata.defined_at = defined_at;
        definition.metadata.source = ToolSource::Dynamic;
        definition.metadata.coerce = false;
        definition.reads_arguments = true;
        Ok(Self { definition: Arc::new(definition), schema: Arc::new(compiled), handler })
    }

    fn with_form(mut self, form: Option<OutputForm>) -> Self {
        self.definition_mut().output = OutputSchema::of_type(form.map(OutputType::new));
        self
    }

    /// Sets the [output schema](ToolDefinition::output_schema). Outputs are not validated.
    ///
    /// # Errors
    /// The schema has faults; the error lists all.
    #[track_caller]
    pub fn with_output_schema(mut self, schema: Value) -> Result<Self, BuildError> {
        let definition = self.definition_mut();
        if let Err(faults) = CompiledSchema::new(&schema) {
            return Err(wrong_schema(
                &definition.name,
                faults,
                "in the output schema, ",
                Some(Location::caller()),
            ));
        }
        definition.output = OutputSchema::known(schema);
        Ok(self)
    }

    /// Sets whether arguments of a wrong but convertible type are coerced; off by default.
    ///
    /// For example, `"5"` becomes 5, a list in a string the list, a number for a string its exact text, and
    /// `null` counts as absent. The validator checks the result.
    #[must_use]
    pub fn with_coerce(self, coerce: bool) -> Self {
        self.map_metadata(|metadata| metadata.with_coerce(coerce))
    }

    /// Changes the metadata with `change`.
    ///
    /// The setting [`unknown`](ToolMetadata::unknown) has no effect: the schema decides.
    #[must_use]
    pub fn map_metadata(mut self, change: impl FnOnce(ToolMetadata) -> ToolMetadata) -> Self {
        let metadata = &mut self.definition_mut().metadata;
        *metadata = change(std::mem::take(metadata));
        self
    }

    /// Reads the arguments by the contract, and validates them.
    fn read(&self, arguments: &str, context: &ToolContext) -> Result<Value, ToolError> {
        let value = parse_value(&self.definition.normal_arguments(arguments, Some(context))?)?;
        let violations = self.schema.violations(&value);
        if violations.is_empty() { Ok(value) } else { Err(ToolError::invalid_arguments(violations)) }
    }

    pub(super) fn definition_mut(&mut self) -> &mut ToolDefinition {
        Arc::make_mut(&mut self.definition)
    }
}

impl Tool for DynamicTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        let args = match self.read(arguments, context) {
            Ok(args) => args,
            Err(error) => return ToolFuture::ready(Err(error)),
        };
        match context.end_check() {
            Ok(()) => (self.handler)(args, context),
            Err(error) => ToolFuture::ready(Err(error)),
        }
    }

    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        check_by_call(self, arguments, context)
    }
}

/// Returns an error with every fault of a schema. Messages begin with `which`: `in the output schema, `, or
/// nothing for the arguments.
fn wrong_schema(
    name: &ToolName,
    faults: Vec<SchemaError>,
    which: &str,
    defined_at: Option<Location>,
) -> BuildError {
    let mut problems = Vec::with_capacity(faults.len());
    for error in faults {
        let fault = ToolFault::InvalidSchema {
            path: error.path().to_owned(),
            message: format!("{which}{}", error.message()),
        };
        problems.push(BuildProblem::of_tool(name, defined_at, fault));
    }
    problems.into_iter().collect()
}

#[cfg(test)]
mod tests;
