//! Closures as tools, with arguments of one type.

use super::closure_return::ClosureReturn;
use super::definition::OutputSchema;
use super::{Tool, ToolDefinition, ToolFuture, ToolMetadata, UnknownArguments, check_by_call};
use crate::args::{DecodeOptions, ObjectInfo, ToolParams, decode_struct};
use crate::context::ToolContext;
use crate::error::{BuildError, BuildProblem, Location, ToolError};
use crate::name::ToolName;
use crate::schema::__private::strip_aliases;
use schemars::JsonSchema;
use serde_json::Value;
use std::fmt;
use std::mem;
use std::panic;
use std::sync::Arc;
use std::time::Duration;

/// Decodes the arguments and calls the closure.
type Call = dyn Fn(&str, &ToolContext, &Made) -> ToolFuture<'static> + Send + Sync;

impl ClosureTool {
    /// Creates a tool from a closure with one parameter: the fields of its struct are the tool's parameters.
    ///
    /// The closure returns an [`IntoToolOutput`](crate::IntoToolOutput) value, or a future of it. As with
    /// `#[tool]`, all violations are reported at once, near misses are coerced, and unknown names are refused
    /// unless the struct takes them (with `#[serde(flatten)]` into a map).
    ///
    /// ```
    /// use toolkit::{ClosureTool, ToolRegistry};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Add { a: i64, b: i64 }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let offset = 100; // closures may hold what they need
    /// let add = ClosureTool::new("add", "Adds.", move |Add { a, b }: Add| async move { a + b + offset })?;
    /// let output = ToolRegistry::from_tools([add])?.call("add", r#"{"a": 1, "b": "2"}"#).await?;
    /// assert_eq!(output.to_text(), "103");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] if the name is not legal, or `Args` is not serialized as an object.
    #[track_caller]
    pub fn new<Args, F, Return, Kind>(
        name: &str,
        description: impl Into<String>,
        closure: F,
    ) -> Result<Self, BuildError>
    where
        Args: ToolParams + 'static,
        F: Fn(Args) -> Return + Send + Sync + 'static,
        Return: ClosureReturn<Kind>,
    {
        let call = move |args: Args, _: &ToolContext| closure(args).into_call();
        Self::make(name, description.into(), Return::IS_ASYNC, call)
    }

    /// Creates a tool from a closure that also takes the [`ToolContext`].
    ///
    /// ```
    /// use toolkit::{ClosureTool, Tool, ToolContext};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Note { text: String }
    ///
    /// let note = ClosureTool::with_context("note", "Notes.", |note: Note, context: ToolContext| {
    ///     format!("{}: {}", context.tool_name(), note.text)
    /// })?;
    /// assert!(!note.definition().metadata.is_async);
    /// # Ok::<(), toolkit::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] if the name is not legal, or `Args` is not serialized as an object.
    #[track_caller]
    pub fn with_context<Args, F, Return, Kind>(
        name: &str,
        description: impl Into<String>,
        closure: F,
    ) -> Result<Self, BuildError>
    where
        Args: ToolParams + 'static,
        F: Fn(Args, ToolContext) -> Return + Send + Sync + 'static,
        Return: ClosureReturn<Kind>,
    {
        let call = move |args: Args, context: &ToolContext| closure(args, context.clone()).into_call();
        Self::make(name, description.into(), Return::IS_ASYNC, call)
    }
}

/// A closure as a tool, created by [`ClosureTool::new`]. Clones are cheap.
#[derive(Clone)]
pub struct ClosureTool {
    made: Arc<Made>,
    call: Arc<Call>,
}

#[derive(Debug, Clone)]
struct Made {
    definition: ToolDefinition,
    /// The schema for checks, if it says more than the published one.
    checked: Option<Value>,
    shape: ObjectInfo,
}

impl Made {
    fn rules<'a>(&'a self, context: &'a ToolContext) -> DecodeOptions<'a> {
        let ToolDefinition { parameters, metadata, .. } = &self.definition;
        DecodeOptions {
            schema: self.checked.as_ref().unwrap_or(parameters),
            has_constraints: &[],
            refuse_unknown: metadata.unknown == UnknownArguments::Refuse,
            coerce: metadata.coerce,
            context: Some(context),
        }
    }

    fn close(&mut self, closed: bool) {
        let schemas = std::iter::once(&mut self.definition.parameters).chain(&mut self.checked);
        schemas.for_each(|schema| self.shape.close(schema, closed));
    }
}

impl ClosureTool {
    #[track_caller]
    fn make<Args: ToolParams + 'static>(
        name: &str,
        description: String,
        is_async: bool,
        closure: impl Fn(Args, &ToolContext) -> ToolFuture<'static> + Send + Sync + 'static,
    ) -> Result<Self, BuildError> {
        let defined_at = caller();
        let name = legal_name(name, defined_at)?;
        let (mut schema, shape) = ObjectInfo::of::<Args>().ok_or_else(|| BuildProblem::InvalidSchema {
            tool: name.to_string(),
            path: "#".to_owned(),
            message: "the arguments of a closure must be written as an object; put them into a struct"
                .to_owned(),
            defined_at,
        })?;
        let checked = strip_aliases(&mut schema);
        let mut definition = ToolDefinition::new(name, description, schema);
        definition.metadata.is_async = is_async;
        definition.metadata.defined_at = defined_at;
        definition.add_aliases_of(checked.as_ref());
        let call = move |text: &str, context: &ToolContext, made: &Made| {
            let args = decode_struct::<Args>(text, &made.shape, &made.rules(context));
            match args.and_then(|args| context.end_check().map(|()| args)) {
                Ok(args) => closure(args, context),
                Err(error) => ToolFuture::ready(Err(error)),
            }
        };
        let mut made = Made { definition, checked, shape };
        made.close(true);
        Ok(Self { made: Arc::new(made), call: Arc::new(call) })
    }

    /// Sets the time limit of a call, which precedes those of dispatcher and registry.
    #[must_use]
    pub fn with_timeout(self, limit: Duration) -> Self {
        self.with_metadata(|metadata| metadata.with_timeout(limit))
    }

    /// Sets the name.
    #[must_use]
    pub fn with_name(mut self, name: ToolName) -> Self {
        Arc::make_mut(&mut self.made).definition.name = name;
        self
    }

    /// Sets the type of the closure's output; its schema becomes the
    /// [output schema](ToolDefinition::output_schema).
    ///
    /// ```
    /// use toolkit::{ClosureTool, Json, Tool};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Point { x: i64, y: i64 }
    ///
    /// #[derive(serde::Serialize, schemars::JsonSchema)]
    /// struct Sum { sum: i64 }
    ///
    /// let add = ClosureTool::new("add", "Adds.", |Point { x, y }: Point| Json(Sum { sum: x + y }))?
    ///     .with_output::<Sum>();
    /// let schema = add.definition().output_schema().expect("`Sum` is described");
    /// assert_eq!(schema["properties"]["sum"]["type"], "integer");
    /// # Ok::<(), toolkit::BuildError>(())
    /// ```
    #[must_use]
    pub fn with_output<T: JsonSchema>(mut self) -> Self {
        let output = OutputSchema::of_type(Some(T::json_schema));
        Arc::make_mut(&mut self.made).definition.output = output;
        self
    }

    /// Sets the [output schema](ToolDefinition::output_schema), unchecked.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        Arc::make_mut(&mut self.made).definition.output = OutputSchema::known(schema);
        self
    }

    /// Changes the metadata.
    #[must_use]
    pub fn with_metadata(mut self, change: impl FnOnce(ToolMetadata) -> ToolMetadata) -> Self {
        let made = Arc::make_mut(&mut self.made);
        made.definition.metadata = change(mem::take(&mut made.definition.metadata));
        let refuse_unknown = made.definition.metadata.unknown == UnknownArguments::Refuse;
        made.close(refuse_unknown);
        self
    }
}

impl Tool for ClosureTool {
    fn definition(&self) -> &ToolDefinition {
        &self.made.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        (self.call)(arguments, context, &self.made)
    }

    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        check_by_call(self, arguments, context)
    }
}

impl fmt::Debug for ClosureTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClosureTool").field("definition", &self.made.definition).finish_non_exhaustive()
    }
}

/// Returns the place in the program that creates a tool.
#[track_caller]
pub(super) fn caller() -> Option<Location> {
    let place = panic::Location::caller();
    Some(Location { file: place.file(), line: place.line() })
}

pub(super) fn legal_name(name: &str, defined_at: Option<Location>) -> Result<ToolName, BuildProblem> {
    ToolName::new(name).map_err(|error| BuildProblem::IllegalName { error, defined_at })
}
