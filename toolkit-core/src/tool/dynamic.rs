//! Tools whose schema is known only at run time.

use super::closure::{caller, legal_name};
use super::definition::OutputSchema;
use super::{Tool, ToolAnswer, ToolDefinition, ToolFuture, ToolMetadata, ToolSource};
use crate::args::DynamicArgs;
use crate::context::ToolContext;
use crate::error::{BuildError, BuildProblem, Location};
use crate::name::ToolName;
use crate::schema::{CompiledSchema, SchemaError};
use serde_json::Value;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

type Handler = dyn Fn(Value, &ToolContext) -> ToolFuture<'static> + Send + Sync;

/// A tool whose schema is known only at run time: one of a remote server, of a file, of a user.
///
/// The schema is checked when the tool is made, and every call before it runs: it is accepted exactly if a
/// JSON Schema validator accepts it. What is refused is explained with every violation at once. The draft
/// is 2020-12 unless the schema says another one with `$schema`; nothing is ever fetched.
///
/// The handler gets the arguments as JSON: an object of named arguments, or an array of
/// positional ones or a single value if that is what the schema describes. Text that is not JSON never
/// reaches it, and neither do arguments with a name that stands twice; no text at all and `null` are the
/// empty object where the schema is that of an object.
///
/// ```
/// use serde_json::{Value, json};
/// use toolkit_core::{DynamicTool, ToolRegistry};
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
    args: Arc<DynamicArgs>,
    handler: Arc<Handler>,
}

impl DynamicTool {
    /// A tool with this JSON Schema for its arguments. The handler returns anything that is
    /// [`IntoOutcome`](crate::IntoOutcome), or a future of it.
    ///
    /// # Errors
    /// [`BuildError`] if the name is not legal, or with everything that is wrong with the schema.
    #[track_caller]
    pub fn new<F, Answer, When>(
        name: &str,
        description: impl Into<String>,
        schema: Value,
        handler: F,
    ) -> Result<Self, BuildError>
    where
        F: Fn(Value) -> Answer + Send + Sync + 'static,
        Answer: ToolAnswer<When>,
    {
        let handler = move |args: Value, _: &ToolContext| handler(args).into_call();
        Self::make(name, description.into(), schema, Answer::IS_ASYNC, Arc::new(handler))
    }

    /// Like [`new`](Self::new), for a handler that wants to know about the call.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use toolkit_core::{DynamicTool, ToolContext};
    ///
    /// let schema = json!({"type": "array", "items": {"type": "number"}});
    /// let sum = DynamicTool::new_with("sum", "Sums.", schema, |args: Value, context: ToolContext| {
    ///     let numbers = args.as_array().into_iter().flatten();
    ///     format!("{}: {}", context.tool_name(), numbers.filter_map(Value::as_f64).sum::<f64>())
    /// })?;
    /// # Ok::<(), toolkit_core::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] if the name is not legal, or with everything that is wrong with the schema.
    #[track_caller]
    pub fn new_with<F, Answer, When>(
        name: &str,
        description: impl Into<String>,
        schema: Value,
        handler: F,
    ) -> Result<Self, BuildError>
    where
        F: Fn(Value, ToolContext) -> Answer + Send + Sync + 'static,
        Answer: ToolAnswer<When>,
    {
        let handler = move |args: Value, context: &ToolContext| handler(args, context.clone()).into_call();
        Self::make(name, description.into(), schema, Answer::IS_ASYNC, Arc::new(handler))
    }

    #[track_caller]
    fn make(
        name: &str,
        description: String,
        schema: Value,
        is_async: bool,
        handler: Arc<Handler>,
    ) -> Result<Self, BuildError> {
        let defined_at = caller();
        let name = legal_name(name, defined_at)?;
        let args = DynamicArgs::new(&schema).map_err(|faults| wrong_schema(&name, faults, "", defined_at))?;
        let mut definition = ToolDefinition::new(name, description, schema);
        definition.metadata.is_async = is_async;
        definition.metadata.defined_at = defined_at;
        definition.metadata.source = ToolSource::Dynamic;
        definition.metadata.coerce = false;
        Ok(Self { definition: Arc::new(definition), args: Arc::new(args), handler })
    }

    /// Sets the [output schema](ToolDefinition::output_schema). What the handler returns is not compared
    /// with it.
    ///
    /// # Errors
    /// [`BuildError`] with everything that is wrong with the schema, as with that of the arguments.
    #[track_caller]
    pub fn with_output_schema(mut self, schema: Value) -> Result<Self, BuildError> {
        let definition = Arc::make_mut(&mut self.definition);
        if let Err(faults) = CompiledSchema::new(&schema) {
            return Err(wrong_schema(&definition.name, faults, "in the output schema, ", caller()));
        }
        definition.output = OutputSchema::known(schema);
        Ok(self)
    }

    /// Tries arguments that the validator refuses as what may be meant, with the rules of `#[tool]`
    /// functions: `"5"` for 5, a list written into a string, `null` for nothing. The validator
    /// judges the result. It is off if nothing is said.
    #[must_use]
    pub fn with_coerce(self, coerce: bool) -> Self {
        self.with_metadata(|metadata| metadata.with_coerce(coerce))
    }

    /// Limits how long one call may run. It goes before the limits of dispatcher and registry.
    #[must_use]
    pub fn with_timeout(self, limit: Duration) -> Self {
        self.with_metadata(|metadata| metadata.with_timeout(limit))
    }

    /// Gives the tool another name.
    #[must_use]
    pub fn with_name(mut self, name: ToolName) -> Self {
        Arc::make_mut(&mut self.definition).name = name;
        self
    }

    /// Changes what the model does not see. What happens to unknown arguments is up to the schema.
    #[must_use]
    pub fn with_metadata(mut self, change: impl FnOnce(ToolMetadata) -> ToolMetadata) -> Self {
        let definition = Arc::make_mut(&mut self.definition);
        definition.metadata = change(mem::take(&mut definition.metadata));
        self
    }
}

impl Tool for DynamicTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        let ToolDefinition { parameters, metadata, .. } = &*self.definition;
        match self.args.read(arguments, parameters, metadata.coerce, Some(context)) {
            Ok(args) => (self.handler)(args, context),
            Err(error) => ToolFuture::ready(Err(error)),
        }
    }
}

impl fmt::Debug for DynamicTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicTool").field("definition", &self.definition).finish_non_exhaustive()
    }
}

/// Everything that is wrong with a schema; `which` says with which one, if it is not that of the arguments.
fn wrong_schema(
    name: &ToolName,
    faults: Vec<SchemaError>,
    which: &str,
    defined_at: Option<Location>,
) -> BuildError {
    let problem = |SchemaError { path, message, .. }| BuildProblem::InvalidSchema {
        tool: name.to_string(),
        path,
        message: format!("{which}{message}"),
        defined_at,
    };
    faults.into_iter().map(problem).collect()
}
