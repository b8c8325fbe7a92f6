//! Requests: a call on its way through the middleware.

use crate::args::{Names, arguments_value, canonical_arguments};
use crate::call::{CallId, RawArguments};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::tool::{Tool, ToolDefinition};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A call on its way through the [middleware](super::Middleware): the tool, the arguments, the context.
///
/// Clones are cheap and share what was parsed.
#[derive(Clone)]
pub struct ToolRequest {
    tool: Arc<dyn Tool>,
    arguments: Arc<CallArguments>,
    context: ToolContext,
    position: usize,
    /// Alive as long as a call of the batch.
    batch: Arc<u64>,
}

/// The arguments of a call, parsed at most once for lanes, permissions, caches and duplicates.
pub(crate) struct CallArguments {
    text: RawArguments,
    value: OnceLock<Result<Value, ToolError>>,
    canonical: OnceLock<Option<Box<str>>>,
}

impl CallArguments {
    pub(crate) fn new(text: RawArguments) -> Arc<Self> {
        Arc::new(Self { text, value: OnceLock::new(), canonical: OnceLock::new() })
    }

    pub(crate) fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// Returns the lane of a call with these arguments; `None` if the tool has none or cannot read them.
    pub(crate) fn lane(&self, definition: &ToolDefinition) -> Option<String> {
        definition.metadata.lane.as_ref()?;
        definition.lane_value(self.value(definition).as_ref().ok()?)
    }

    fn value(&self, definition: &ToolDefinition) -> &Result<Value, ToolError> {
        self.value.get_or_init(|| with_names(definition, |names| arguments_value(self.as_str(), names)))
    }

    fn canonical(&self, definition: &ToolDefinition) -> Option<&str> {
        let write =
            || with_names(definition, |names| canonical_arguments(self.as_str(), names).map(Into::into));
        self.canonical.get_or_init(write).as_deref()
    }
}

fn with_names<T>(definition: &ToolDefinition, read: impl FnOnce(&Names<'_>) -> T) -> T {
    let ToolDefinition { parameters, metadata, .. } = definition;
    read(&Names {
        schema: parameters,
        coerce: metadata.coerce,
        own: &|name| definition.parameter_named(name),
    })
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

    /// Returns the provider's id of the call.
    #[must_use]
    pub fn call_id(&self) -> Option<&CallId> {
        self.context.call_id()
    }

    /// Returns the context that the tool will receive.
    #[must_use]
    pub fn context(&self) -> &ToolContext {
        &self.context
    }

    /// Returns the position of the call in its batch, counted from 0.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the number of the batch, unique within the dispatcher.
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

    /// Returns the arguments as the model wrote them, not validated yet.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.arguments.as_str()
    }

    /// Returns the arguments as an object under the names of the parameters, aliases resolved and near misses coerced.
    ///
    /// The text is parsed by the first call, for all middleware together.
    ///
    /// # Errors
    /// The arguments are not a JSON object.
    pub fn arguments_value(&self) -> Result<&Value, ToolError> {
        self.arguments.value(self.definition()).as_ref().map_err(Clone::clone)
    }

    /// Returns the arguments in canonical form: compact JSON with sorted members, aliases resolved, near misses
    /// coerced, defaults left out.
    ///
    /// Arguments that mean the same have equal forms however they are written: 5, 5.0 and, for a number, `"5"`. No
    /// number is rounded. `None` if the arguments are not a JSON object.
    #[must_use]
    pub fn canonical_arguments(&self) -> Option<&str> {
        self.arguments.canonical(self.definition())
    }

    /// Replaces the arguments by JSON text, or by a [`Value`]. The tool validates them like the model's.
    pub fn set_arguments(&mut self, arguments: impl ToString) {
        self.arguments = CallArguments::new(arguments.to_string().into());
    }

    /// Returns the request with other arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl ToString) -> Self {
        self.set_arguments(arguments);
        self
    }
}

impl fmt::Debug for ToolRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRequest")
            .field("tool", &self.definition().name)
            .field("arguments", &self.arguments())
            .finish_non_exhaustive()
    }
}
