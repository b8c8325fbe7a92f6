//! The tool that a function becomes.

use super::{Tool, ToolDefinition, ToolFuture, ToolMetadata};
use crate::args::{self, Fill, Param, parameters_schema};
use crate::context::ToolContext;
use crate::error::{Location, ToolError};
use crate::name::{Separator, ToolName};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The generated function that decodes the arguments and calls the user's function.
pub type CallFn = for<'a> fn(Invocation<'a>) -> ToolFuture<'a>;

/// One call on its way into a generated function.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    arguments: &'a str,
    context: &'a ToolContext,
    schema: &'a Value,
}

impl<'a> Invocation<'a> {
    /// Fills one slot for each parameter.
    ///
    /// # Errors
    /// See [`decode`](args::decode).
    #[inline]
    pub fn decode(&self, params: &[Param], slots: &mut [&mut dyn Fill]) -> Result<(), ToolError> {
        args::decode(self.arguments, params, self.schema, slots)
    }

    /// What the tool may know about the call.
    #[must_use]
    pub fn context(&self) -> &'a ToolContext {
        self.context
    }
}

/// What the macro writes down about one function, before anything is made of it.
#[derive(Debug)]
pub struct StaticTool {
    /// The function's name, or the one that the attribute gives.
    pub name: &'static str,
    /// The namespace that the attribute gives; it is normalised.
    pub namespace: Option<&'static str>,
    /// The documentation without the sections about parameters.
    pub description: &'static str,
    /// The parameters, in the order of the signature.
    pub params: &'static [Param],
    /// Whether the function is `async`.
    pub is_async: bool,
    /// The time limit that the attribute gives.
    pub timeout: Option<Duration>,
    /// Where the function is defined.
    pub defined_at: Location,
    /// Decodes and calls.
    pub call: CallFn,
    /// Made when the tool is first asked for.
    pub definition: OnceLock<Arc<ToolDefinition>>,
}

impl StaticTool {
    /// The tool. Its definition is made once and shared.
    #[must_use]
    pub fn tool(&self) -> FunctionTool {
        let definition = self.definition.get_or_init(|| Arc::new(self.define())).clone();
        FunctionTool { definition, call: self.call }
    }

    fn define(&self) -> ToolDefinition {
        let name = ToolName::unchecked(self.namespace, self.name, Separator::Dash);
        let metadata = ToolMetadata {
            is_async: self.is_async,
            timeout: self.timeout,
            defined_at: Some(self.defined_at),
        };
        ToolDefinition::new(name, self.description, parameters_schema(self.params)).with_metadata(metadata)
    }
}

/// The tool that a `#[tool]` function becomes. Clones are cheap.
#[derive(Clone)]
pub struct FunctionTool {
    definition: Arc<ToolDefinition>,
    call: CallFn,
}

impl FunctionTool {
    /// Limits how long one call may run. It goes before the limits of dispatcher and registry.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        Arc::make_mut(&mut self.definition).metadata.timeout = Some(limit);
        self
    }

    /// Gives the tool another name.
    #[must_use]
    pub fn with_name(mut self, name: ToolName) -> Self {
        Arc::make_mut(&mut self.definition).name = name;
        self
    }

    /// Replaces the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.definition).description = description.into();
        self
    }
}

impl Tool for FunctionTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    #[inline]
    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        (self.call)(Invocation { arguments, context, schema: &self.definition.parameters })
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool").field("definition", &self.definition).finish_non_exhaustive()
    }
}
