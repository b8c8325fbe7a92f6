//! Closures as tools, with a struct of arguments.

use super::made_once::OutputSchema;
use super::typed::TypedTool;
use super::{Tool, ToolDefinition, ToolFuture, check_by_call};
use crate::args::{ToolParams, is_object, struct_args};
use crate::context::ToolContext;
use crate::error::{BuildError, BuildProblem, Location, ToolError, ToolFault};
use crate::name::ToolName;
use crate::output::{IntoToolOutput, OutputForm, OutputType};
use schemars::JsonSchema;
use std::sync::Arc;

type ClosureCall = dyn Fn(&str, &ToolContext, &TypedTool) -> ToolFuture<'static> + Send + Sync;

impl ClosureTool {
    /// Creates a tool from a closure with one struct parameter, whose fields become parameters.
    ///
    /// The closure returns a value with [`IntoToolOutput`](crate::IntoToolOutput), or a future of one. As
    /// with `#[tool]`, near misses are coerced, and an error lists all violations. Unknown arguments are
    /// refused, unless the struct collects them in a map with `#[serde(flatten)]`.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, ToolRegistry};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Add { a: i64, b: i64 }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let offset = 100; // closures may capture values
    /// let add = ClosureTool::new("add", "Adds.", move |Add { a, b }: Add| async move { a + b + offset })?;
    /// let output = ToolRegistry::from_tools([add])?.call("add", r#"{"a": 1, "b": "2"}"#).await?;
    /// assert_eq!(output.to_text(), "103");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The name is illegal, or `Args` is not serialized as an object.
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
        let tool = Self::make(name, description.into(), Return::IS_ASYNC, move |args: Args, _| {
            closure(args).into_call()
        })?;
        Ok(tool.with_form(Return::FORM))
    }

    /// Creates a tool from a closure without parameters.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, Tool};
    ///
    /// let now = ClosureTool::without_arguments("year", "Returns the year.", || 2026)?;
    /// assert!(now.definition().parameters["properties"].as_object().is_some_and(|all| all.is_empty()));
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// The name is illegal.
    #[track_caller]
    pub fn without_arguments<F, Return, Kind>(
        name: &str,
        description: impl Into<String>,
        closure: F,
    ) -> Result<Self, BuildError>
    where
        F: Fn() -> Return + Send + Sync + 'static,
        Return: ClosureReturn<Kind>,
    {
        #[derive(serde::Deserialize, JsonSchema)]
        struct NoArguments {}

        Self::new(name, description, move |NoArguments {}| closure())
    }

    /// Creates a tool from a closure that takes the arguments struct and the [`ToolContext`].
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, Tool, ToolContext};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Note { text: String }
    ///
    /// let note = ClosureTool::new_with_context("note", "Notes.", |note: Note, context: ToolContext| {
    ///     format!("{}: {}", context.tool_name(), note.text)
    /// })?;
    /// assert!(!note.definition().metadata.is_async);
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// The name is illegal, or `Args` is not serialized as an object.
    #[track_caller]
    pub fn new_with_context<Args, F, Return, Kind>(
        name: &str,
        description: impl Into<String>,
        closure: F,
    ) -> Result<Self, BuildError>
    where
        Args: ToolParams + 'static,
        F: Fn(Args, ToolContext) -> Return + Send + Sync + 'static,
        Return: ClosureReturn<Kind>,
    {
        let tool = Self::make(name, description.into(), Return::IS_ASYNC, move |args: Args, context| {
            closure(args, context.clone()).into_call()
        })?;
        Ok(tool.with_form(Return::FORM))
    }
}

/// A closure as a tool. Clones are cheap.
///
/// ```
/// use toolkit_ai::{ClosureTool, ToolRegistry};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let offset = 100;
/// let add = ClosureTool::new("add", "Adds two numbers.", move |args: Add| args.a + args.b + offset)?;
/// let registry = ToolRegistry::from_tools([add])?;
/// assert_eq!(registry.call("add", r#"{"a": 1, "b": 2}"#).await?.to_text(), "103");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct ClosureTool {
    pub(super) inner: Arc<TypedTool>,
    call: Arc<ClosureCall>,
}

impl ClosureTool {
    #[track_caller]
    fn make<Args: ToolParams + 'static>(
        name: &str,
        description: String,
        is_async: bool,
        closure: impl Fn(Args, &ToolContext) -> ToolFuture<'static> + Send + Sync + 'static,
    ) -> Result<Self, BuildError> {
        let defined_at = Some(Location::caller());
        let name = legal_name(name, defined_at)?;
        let schema = struct_args::<Args>();
        if !is_object(&schema) {
            let message = "the arguments of a closure must be written as an object; put them into a struct";
            let fault = ToolFault::InvalidSchema { path: "#".to_owned(), message: message.to_owned() };
            return Err(BuildProblem::of_tool(&name, defined_at, fault).into());
        }
        let mut definition = ToolDefinition::new(name, description, schema);
        definition.metadata.is_async = is_async;
        definition.metadata.defined_at = defined_at;
        Ok(Self {
            inner: Arc::new(TypedTool::new(definition, Vec::new())),
            call: Arc::new(move |text, context, inner| decode_and_call(&closure, text, context, inner)),
        })
    }

    fn with_form(mut self, form: Option<OutputForm>) -> Self {
        self.definition_mut().output = OutputSchema::of_type(form.map(OutputType::new));
        self
    }

    /// Sets the [output schema](ToolDefinition::output_schema) to that of `T`, the closure's output.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, Json, Tool};
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
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    #[must_use]
    pub fn with_output<T: JsonSchema>(mut self) -> Self {
        self.definition_mut().output = OutputSchema::of_type(Some(OutputType::json(T::json_schema)));
        self
    }
}

fn decode_and_call<Args: ToolParams>(
    closure: &impl Fn(Args, &ToolContext) -> ToolFuture<'static>,
    text: &str,
    context: &ToolContext,
    inner: &TypedTool,
) -> ToolFuture<'static> {
    match inner.decode_struct(text, context) {
        Ok(args) => closure(args, context),
        Err(error) => ToolFuture::refused(error),
    }
}

impl Tool for ClosureTool {
    fn definition(&self) -> &ToolDefinition {
        &self.inner.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        (self.call)(arguments, context, &self.inner)
    }

    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        check_by_call(self, arguments, context)
    }
}

pub(super) fn legal_name(name: &str, defined_at: Option<Location>) -> Result<ToolName, BuildProblem> {
    ToolName::new(name).map_err(|error| BuildProblem::IllegalName { error, defined_at })
}

/// The return value of a tool closure: a value with [`IntoToolOutput`], or a future of one.
///
/// The compiler infers `Kind`: [`ReturnsValue`] or [`ReturnsFuture`].
#[diagnostic::on_unimplemented(
    message = "a closure that returns `{Self}` cannot be a tool",
    label = "this has no form for the model",
    note = "return `Json(value)` for a type that is `serde::Serialize`, or text, a number, a list, `ToolOutput`",
    note = "or a `Result<T, E>` of these, where `E` is a string or an error type; or a future of any of them that is `Send`"
)]
pub trait ClosureReturn<Kind> {
    /// Whether the closure is asynchronous.
    const IS_ASYNC: bool;

    /// The form of all outputs, if they have one form.
    #[doc(hidden)]
    const FORM: Option<OutputForm>;

    /// Converts the return value to the future of the call.
    fn into_call(self) -> ToolFuture<'static>;
}

/// The [`ClosureReturn`] kind of a plain return value.
#[derive(Debug, Clone, Copy)]
pub struct ReturnsValue;

/// The [`ClosureReturn`] kind of a future.
#[derive(Debug, Clone, Copy)]
pub struct ReturnsFuture;

impl<T: IntoToolOutput> ClosureReturn<ReturnsValue> for T {
    const IS_ASYNC: bool = false;
    const FORM: Option<OutputForm> = T::FORM;

    fn into_call(self) -> ToolFuture<'static> {
        ToolFuture::ready(self.into_tool_output())
    }
}

impl<F> ClosureReturn<ReturnsFuture> for F
where
    F: Future<Output: IntoToolOutput> + Send + 'static,
{
    const IS_ASYNC: bool = true;
    const FORM: Option<OutputForm> = <F::Output as IntoToolOutput>::FORM;

    fn into_call(self) -> ToolFuture<'static> {
        ToolFuture::running(self, IntoToolOutput::into_tool_output)
    }
}
