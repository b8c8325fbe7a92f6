//! The tool that a function becomes.

use super::{Tool, ToolDefinition, ToolFuture, ToolMetadata};
use crate::args::{self, Fill, Param, parameters_schema};
use crate::context::ToolContext;
use crate::error::Location;
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
    /// Fills one slot for each parameter, or says what is wrong with the arguments.
    #[inline]
    pub fn decode(&self, params: &[Param], slots: &mut [&mut dyn Fill]) -> Option<ToolFuture<'a>> {
        let decoded = args::decode(self.arguments, params, self.schema, slots);
        decoded.err().map(|error| ToolFuture::ready(Err(error)))
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
    name: &'static str,
    namespace: Option<&'static str>,
    description: &'static str,
    params: &'static [Param],
    call: CallFn,
    metadata: ToolMetadata,
    /// Made when the tool is first asked for.
    definition: OnceLock<Arc<ToolDefinition>>,
}

impl StaticTool {
    /// A synchronous function with its name, the documentation without the sections about parameters,
    /// the parameters in the order of the signature, and the function that decodes and calls.
    #[must_use]
    pub const fn new(
        name: &'static str,
        description: &'static str,
        params: &'static [Param],
        call: CallFn,
    ) -> Self {
        let metadata = ToolMetadata { is_async: false, timeout: None, defined_at: None };
        Self { name, namespace: None, description, params, call, metadata, definition: OnceLock::new() }
    }

    /// Sets the namespace; it is normalised.
    #[must_use]
    pub const fn with_namespace(mut self, namespace: &'static str) -> Self {
        self.namespace = Some(namespace);
        self
    }

    /// Says that the function is `async`.
    #[must_use]
    pub const fn with_async(mut self) -> Self {
        self.metadata.is_async = true;
        self
    }

    /// Sets how long one call may run.
    #[must_use]
    pub const fn with_timeout(mut self, limit: Duration) -> Self {
        self.metadata.timeout = Some(limit);
        self
    }

    /// Says where the function is defined.
    #[must_use]
    pub const fn with_location(mut self, file: &'static str, line: u32) -> Self {
        self.metadata.defined_at = Some(Location { file, line });
        self
    }

    /// What the registry sorts by before it knows the tools.
    pub(crate) fn sort_key(&self) -> (Option<(&'static str, u32)>, &'static str) {
        (self.metadata.defined_at.map(|place| (place.file, place.line)), self.name)
    }

    /// The tool. Its definition is made once and shared.
    #[must_use]
    pub fn tool(&self) -> FunctionTool {
        let definition = self.definition.get_or_init(|| Arc::new(self.define())).clone();
        FunctionTool { definition, call: self.call }
    }

    fn define(&self) -> ToolDefinition {
        let name = ToolName::unchecked(self.namespace, self.name, Separator::Dash);
        ToolDefinition::new(name, self.description, parameters_schema(self.params))
            .with_metadata(self.metadata.clone())
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
