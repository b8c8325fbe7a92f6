//! A call on its way through the middleware.

use crate::args::{arguments_value, canonical_arguments};
use crate::call::{CallId, RawArguments};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::tool::{Tool, ToolDefinition};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// A call on its way through the [middleware](super::Middleware): which tool, with which arguments.
#[derive(Clone)]
pub struct ToolRequest {
    tool: Arc<dyn Tool>,
    arguments: RawArguments,
    context: ToolContext,
    position: usize,
    /// Lives as long as a call of the batch does.
    batch: Arc<u64>,
}

impl ToolRequest {
    pub(crate) fn new(
        tool: Arc<dyn Tool>,
        arguments: RawArguments,
        context: ToolContext,
        position: usize,
        batch: Arc<u64>,
    ) -> Self {
        Self { tool, arguments, context, position, batch }
    }

    /// What the tool says about itself.
    #[must_use]
    pub fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }

    /// The provider's id of the call.
    #[must_use]
    pub fn call_id(&self) -> Option<&CallId> {
        self.context.call_id()
    }

    /// What the tool will know about the call.
    #[must_use]
    pub fn context(&self) -> &ToolContext {
        &self.context
    }

    /// The position of the call in its batch, counted from 0.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// The number of the batch. No other batch of the dispatcher has it.
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

    /// The arguments as the model wrote them; the tool has not looked at them yet.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.arguments.as_str()
    }

    /// The arguments, decoded as far as it needs no types: an object, empty if there are none, whose members go by
    /// the names of the parameters, whichever other names the tool knows them by.
    ///
    /// # Errors
    /// The arguments are not a JSON object.
    pub fn arguments_value(&self) -> Result<Value, ToolError> {
        arguments_value(self.arguments(), |name| self.parameter_named(name))
    }

    /// The arguments as one text, the same for the same arguments however they are written: compact JSON whose
    /// members are sorted and go by the names of the parameters. Numbers stay as they are, digit by
    /// digit. `None` if the arguments are not a JSON object.
    #[must_use]
    pub fn canonical_arguments(&self) -> Option<String> {
        canonical_arguments(self.arguments(), |name| self.parameter_named(name))
    }

    fn parameter_named(&self, name: &str) -> Option<String> {
        self.tool.parameter_named(name).map(str::to_owned)
    }

    /// Replaces the arguments by JSON text, or by a [`Value`] written as text. The tool checks them as it would
    /// have checked the model's.
    pub fn set_arguments(&mut self, arguments: impl ToString) {
        self.arguments = arguments.to_string().into();
    }

    /// The same with other arguments.
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
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}
