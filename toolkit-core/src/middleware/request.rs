//! Requests: calls on their way through the middleware.

use crate::args::{not_json, parse_value};
use crate::call::{CallId, RawArguments};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::schema::__private::Json;
use crate::tool::{Tool, ToolDefinition, arguments_json, canonical_arguments, repeated_arguments, takes};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// A call as received by [middleware](super::Middleware), with its tool, arguments and context. Clones are
/// cheap and share the parsed arguments.
#[derive(Clone)]
#[must_use]
pub struct ToolRequest {
    tool: Arc<dyn Tool>,
    arguments: Arc<CallArguments>,
    context: ToolContext,
    position: usize,
    /// The token of the batch, shared by its calls. It is dropped with the last call of the batch.
    batch: Arc<u64>,
}

/// The arguments of a call, read at most once for lanes, permissions, caches and duplicates.
pub(crate) struct CallArguments {
    tool: Arc<dyn Tool>,
    text: RawArguments,
    /// The [text of one object](arguments_json) with these arguments.
    json: OnceLock<Result<String, ToolError>>,
    value: OnceLock<Result<Value, ToolError>>,
    /// The error about arguments given twice, if there are any.
    repeated: OnceLock<Option<ToolError>>,
    canonical: OnceLock<Option<Box<str>>>,
}

impl CallArguments {
    pub(crate) fn new(tool: Arc<dyn Tool>, text: RawArguments) -> Arc<Self> {
        let (json, value, repeated, canonical) =
            (OnceLock::new(), OnceLock::new(), OnceLock::new(), OnceLock::new());
        Arc::new(Self { tool, text, json, value, repeated, canonical })
    }

    pub(crate) fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// Returns the value of the tool's lane parameter in the arguments. Returns `None` if the tool has no
    /// lane or the arguments cannot be parsed.
    pub(crate) fn lane(&self) -> Option<String> {
        let definition = self.tool.definition();
        definition.metadata.lane.as_ref()?;
        definition.lane_value(self.value().as_ref().ok()?)
    }

    fn json(&self) -> Result<&str, &ToolError> {
        let takes = |text: &str, coerce| takes(&*self.tool, text, coerce);
        let write = || arguments_json(self.as_str(), self.tool.definition(), takes);
        self.json.get_or_init(write).as_deref()
    }

    fn value(&self) -> &Result<Value, ToolError> {
        self.value.get_or_init(|| parse_value(self.json().map_err(Clone::clone)?))
    }

    /// Returns the value if it is the only reading of the arguments. If a name is given twice, a tool may read
    /// another value than the last one.
    fn only_value(&self) -> Result<&Value, &ToolError> {
        let value = self.value().as_ref()?;
        self.repeated().map_or(Ok(value), Err)
    }

    fn repeated(&self) -> Option<&ToolError> {
        self.repeated.get_or_init(|| repeated_arguments(self.json().ok()?)).as_ref()
    }

    fn canonical(&self) -> Option<&str> {
        let write = || canonical_arguments(self.json().ok()?, self.tool.definition());
        self.canonical.get_or_init(|| write().map(Into::into)).as_deref()
    }
}

impl ToolRequest {
    pub(crate) fn new(
        tool: Arc<dyn Tool>,
        arguments: Arc<CallArguments>,
        context: ToolContext,
        position: usize,
        batch: Arc<u64>,
    ) -> Self {
        Self { tool, arguments, context, position, batch }
    }

    /// Returns the definition of the tool.
    #[must_use]
    pub fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }

    /// Returns the id assigned to the call by the provider.
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

    /// Returns the arguments as the model wrote them. They are not validated; use [`validate`](Self::validate) to check
    /// them.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.arguments.as_str()
    }

    /// Returns the arguments as a JSON object. Aliases are replaced by the names of the parameters and nested
    /// properties. Near misses, such as `"5"` for an integer, are coerced.
    ///
    /// The arguments are parsed on the first use, once for all middleware.
    ///
    /// # Errors
    /// The arguments are not a JSON object, a number is out of range, or an argument or a member of an argument
    /// is given twice, perhaps once under an alias.
    pub fn arguments_value(&self) -> Result<&Value, ToolError> {
        // The error of the tool itself lists every violation.
        self.arguments.only_value().map_err(|error| self.validate().err().unwrap_or_else(|| error.clone()))
    }

    /// Returns the arguments as compact JSON text, with the same members as [`arguments_value`](Self::arguments_value).
    ///
    /// The text contains every digit of a number, whereas a [`Value`] rounds integers beyond 64 bits. Show this text to
    /// humans for approval.
    ///
    /// # Errors
    /// The arguments are not a JSON object, or an argument or a member of an argument is given twice.
    pub fn arguments_json(&self) -> Result<String, ToolError> {
        if let Some(repeated) = self.arguments.repeated() {
            return Err(repeated.clone());
        }
        let text = self.arguments.json().map_err(Clone::clone)?;
        Json::parse(text).map(|json| json.compact()).map_err(|error| not_json(text, &error))
    }

    /// Returns the arguments in canonical form: compact JSON with sorted members, aliases resolved, near
    /// misses coerced, and defaults left out.
    ///
    /// Arguments with the same meaning have the same canonical form, regardless of their spelling. For a number, 5, 5.0
    /// and `"5"` have the same form. No number is rounded.
    ///
    /// Returns `None` if the arguments are not a JSON object. Also returns `None` if the program
    /// [computes](crate::ArgumentTransform::computed) an argument, because calls with equal arguments may then differ.
    #[must_use]
    pub fn canonical_arguments(&self) -> Option<&str> {
        let definition = self.definition();
        if definition.is_computed() { None } else { self.arguments.canonical() }
    }

    /// Checks if the tool accepts the arguments, without running the tool.
    ///
    /// # Errors
    /// The error that the call would return.
    pub fn validate(&self) -> Result<(), ToolError> {
        self.tool.validate(self.arguments(), &self.context)
    }

    /// Replaces the arguments with JSON text or a [`Value`]. The tool validates them like arguments from the
    /// model.
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
