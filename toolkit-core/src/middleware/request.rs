//! Requests: calls on their way through the middleware.

use crate::args::{not_json, parse_value};
use crate::call::{CallId, RawArguments};
use crate::context::ToolContext;
use crate::definition::{Tool, ToolDefinition, check};
use crate::error::ToolError;
use crate::registry::ToolRegistry;
use crate::schema::__private::Json;
use crate::schema::canonical_json;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// A call as [middleware](super::Middleware) receives it.
///
/// Clones are cheap and share the parsed arguments.
#[derive(Clone)]
#[must_use]
pub struct ToolRequest {
    tool: Arc<dyn Tool>,
    arguments: Arc<CallArguments>,
    context: ToolContext,
    position: usize,
    /// The token, dropped with the last call of the batch.
    batch: Arc<u64>,
    /// The registry, unless it is live.
    fixed_registry: Option<Arc<ToolRegistry>>,
}

/// The arguments of a call, read at most once for lanes, permissions, caches and duplicates.
pub(crate) struct CallArguments {
    tool: Arc<dyn Tool>,
    text: RawArguments,
    normal: OnceLock<Result<String, ToolError>>,
    value: OnceLock<Result<Value, ToolError>>,
    canonical: OnceLock<Option<Box<str>>>,
}

impl CallArguments {
    pub(crate) fn new(tool: Arc<dyn Tool>, text: RawArguments) -> Arc<Self> {
        let normal = OnceLock::new();
        let value = OnceLock::new();
        let canonical = OnceLock::new();
        Arc::new(Self { tool, text, normal, value, canonical })
    }

    pub(crate) fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// Returns the normal form if a rule has read it, otherwise the text of the model.
    ///
    /// # Errors
    /// A rule could not read the arguments, so the call does not run.
    pub(crate) fn for_tool(&self) -> Result<&str, ToolError> {
        match self.normal.get() {
            Some(normal) => normal.as_deref().map_err(Clone::clone),
            None => Ok(self.as_str()),
        }
    }

    /// Returns the value of the tool's lane parameter, if the arguments are valid.
    pub(crate) fn lane(&self) -> Option<String> {
        let definition = self.tool.definition();
        definition.metadata.lane.as_ref()?;
        definition.lane_value(&self.normal().ok()?.parse().ok()?)
    }

    fn normal(&self) -> Result<&str, &ToolError> {
        self.normal.get_or_init(|| self.read()).as_deref()
    }

    fn read(&self) -> Result<String, ToolError> {
        let definition = self.tool.definition();
        let normal = definition.normal_arguments(self.as_str(), None)?;
        let unclear = definition.contract()?.unclear(&definition.parameters, &normal);
        if unclear.is_empty() { Ok(normal.into_owned()) } else { Err(ToolError::invalid_arguments(unclear)) }
    }

    fn value(&self) -> &Result<Value, ToolError> {
        self.value.get_or_init(|| self.parse())
    }

    fn parse(&self) -> Result<Value, ToolError> {
        let normal = self.normal().map_err(Clone::clone)?;
        let rounded = self.tool.definition().contract()?.rounded(normal);
        if rounded.is_empty() { parse_value(normal) } else { Err(ToolError::invalid_arguments(rounded)) }
    }

    fn canonical(&self) -> Option<&str> {
        self.canonical.get_or_init(|| self.write_canonical()).as_deref()
    }

    fn write_canonical(&self) -> Option<Box<str>> {
        canonical_json(self.normal().ok()?).ok().map(Into::into)
    }
}

impl ToolRequest {
    pub(crate) fn new(
        tool: Arc<dyn Tool>,
        arguments: Arc<CallArguments>,
        context: ToolContext,
        position: usize,
        batch: Arc<u64>,
        fixed_registry: Option<Arc<ToolRegistry>>,
    ) -> Self {
        Self { tool, arguments, context, position, batch, fixed_registry }
    }

    pub(super) fn valid_arguments(&self) -> Result<Value, ToolError> {
        self.validate()?;
        self.arguments_value().cloned()
    }

    pub(super) fn fixed_registry(&self) -> Option<&Arc<ToolRegistry>> {
        self.fixed_registry.as_ref()
    }

    /// Returns the definition of the tool.
    #[must_use]
    pub fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }

    /// Returns the provider's id of the call.
    #[must_use]
    pub fn call_id(&self) -> Option<&CallId> {
        self.context.call_id()
    }

    /// Returns the context passed to the tool.
    #[must_use]
    pub fn context(&self) -> &ToolContext {
        &self.context
    }

    /// Returns the position of the call in its batch, counted from 0.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the id of the batch, unique within the dispatcher and its clones.
    #[must_use]
    pub fn batch(&self) -> u64 {
        *self.batch
    }

    #[cfg(feature = "cache")]
    pub(super) fn tool(&self) -> &Arc<dyn Tool> {
        &self.tool
    }

    pub(super) fn batch_token(&self) -> &Arc<u64> {
        &self.batch
    }

    pub(crate) fn call_arguments(&self) -> &Arc<CallArguments> {
        &self.arguments
    }

    /// Returns the arguments as the model wrote them, not [validated](Self::validate).
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.arguments.as_str()
    }

    /// Returns the arguments in their normal form, which the tool decodes.
    ///
    /// They have the names of parameters and nested properties, coerced values for near misses such as
    /// `"5"` for an integer, and the published defaults of absent arguments. Defaults of dynamic and
    /// foreign tools are remarks of their authors, and are not added. The arguments are read on the first
    /// use, once for all middleware.
    ///
    /// # Errors
    /// The arguments violate the contract of the tool, or a [`Value`] would round an integer beyond 64
    /// bits.
    pub fn arguments_value(&self) -> Result<&Value, ToolError> {
        self.arguments.value().as_ref().map_err(|error| self.error_of_tool(error))
    }

    /// Returns [`arguments_value`](Self::arguments_value) as compact JSON with every digit, to show to
    /// humans for approval.
    ///
    /// # Errors
    /// The arguments violate the contract of the tool.
    pub fn arguments_json(&self) -> Result<String, ToolError> {
        let text = self.arguments.normal().map_err(|error| self.error_of_tool(error))?;
        match Json::parse(text) {
            Ok(json) => Ok(json.compact()),
            Err(error) => Err(not_json(text, &error)),
        }
    }

    /// Returns the error of the call, or else `error`.
    fn error_of_tool(&self, error: &ToolError) -> ToolError {
        match self.validate() {
            Ok(()) => error.clone(),
            Err(of_call) => of_call,
        }
    }

    /// Returns the [normal form](Self::arguments_value) as compact JSON with sorted members.
    ///
    /// Arguments with the same meaning have the same form: 5, 5.0 and `"5"` are the same number. No number
    /// is rounded.
    ///
    /// Returns `None` if the arguments violate the contract, or if the program
    /// [computes](crate::ArgumentTransform::computed) one, because equal calls may then differ.
    #[must_use]
    pub fn canonical_arguments(&self) -> Option<&str> {
        let definition = self.definition();
        if definition.is_computed() { None } else { self.arguments.canonical() }
    }

    /// Checks whether the tool accepts the arguments.
    ///
    /// # Errors
    /// The error that the call would return.
    pub fn validate(&self) -> Result<(), ToolError> {
        check(&*self.tool, self.arguments(), &self.context)
    }

    /// Replaces the arguments with JSON text or a [`Value`], read like arguments from the model.
    ///
    /// The [`Permissions`](super::Permissions) before this middleware judge them again.
    pub fn set_arguments(&mut self, arguments: impl ToString) {
        self.arguments = CallArguments::new(self.tool.clone(), arguments.to_string().into());
    }

    /// Returns the request with new arguments.
    pub fn with_arguments(mut self, arguments: impl ToString) -> Self {
        self.set_arguments(arguments);
        self
    }
}

impl_debug!(ToolRequest, |this| tool: this.definition().name, arguments: this.arguments());
