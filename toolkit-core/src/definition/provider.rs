//! Tool providers: sources of tools known only at run time.

use super::{Tool, ToolDefinition, ToolFuture};
use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::ToolError;
use std::fmt;
use std::sync::Arc;

/// A source of tools known only at run time, such as a server or a [`Dispatcher`](crate::Dispatcher).
///
/// [`ToolRegistry::register_provider`](crate::ToolRegistry::register_provider) adds its tools to a
/// registry, where they can be changed like all others. [`handle`](Self::handle) receives the calls of all
/// tools. The tools of a [`Toolset`](super::Toolset), in contrast, are typed methods.
///
/// ```
/// use serde_json::json;
/// use toolkit_ai::{
///     ToolCall, ToolContext, ToolDefinition, ToolFuture, ToolName, ToolOutput, ToolProvider,
///     ToolRegistry,
/// };
///
/// struct Echo;
///
/// impl ToolProvider for Echo {
///     fn tools(&self) -> Vec<ToolDefinition> {
///         let name = ToolName::new("echo").into_iter();
///         name.map(|name| ToolDefinition::new(name, "Repeats its arguments.", json!({"type": "object"}))).collect()
///     }
///
///     fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
///         ToolFuture::new(async move { Ok(ToolOutput::text(call.arguments.to_string())) })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let mut registry = ToolRegistry::new();
/// registry.register_provider(Echo)?;
/// assert_eq!(registry.call("echo", r#"{"a": 1}"#).await?.to_text(), r#"{"a": 1}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[doc(alias("toolset"))]
pub trait ToolProvider: Send + Sync + 'static {
    /// Returns the definitions of the current tools.
    fn tools(&self) -> Vec<ToolDefinition>;

    /// Starts a call of one of the tools, under the name in its definition.
    ///
    /// The call id is empty if the program makes the call. `context` has all else, such as session, run,
    /// deadline, call reason, and the model's name for the tool.
    ///
    /// This method must not block. A timeout or a cancellation drops the future. A panic in either becomes
    /// the error of the call.
    fn handle<'a>(&'a self, call: ToolCall, context: &'a ToolContext) -> ToolFuture<'a>;

    /// Checks a call without running it. `definition` is that of the registration.
    ///
    /// The default checks like that of [`Tool::validate`].
    ///
    /// # Errors
    /// The error that the call would return.
    fn validate(
        &self,
        call: &ToolCall,
        definition: &ToolDefinition,
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        definition.normal_arguments(call.arguments.as_str(), Some(context)).map(drop)
    }
}

impl<T: ToolProvider + ?Sized> ToolProvider for Arc<T> {
    fn tools(&self) -> Vec<ToolDefinition> {
        (**self).tools()
    }

    fn handle<'a>(&'a self, call: ToolCall, context: &'a ToolContext) -> ToolFuture<'a> {
        (**self).handle(call, context)
    }

    fn validate(
        &self,
        call: &ToolCall,
        definition: &ToolDefinition,
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        (**self).validate(call, definition, context)
    }
}

/// A tool of a [`ToolProvider`].
///
/// ```
/// use toolkit_ai::definition::ProvidedTool;
/// use toolkit_ai::{ClosureTool, Dispatcher, Tool, ToolRegistry};
///
/// // A dispatcher is a provider: calls of its tools pass its middleware.
/// let ping = ClosureTool::without_arguments("ping", "Answers.", || "pong")?;
/// let tools = ProvidedTool::all(Dispatcher::new(ToolRegistry::from_tools([ping])?)?);
/// assert_eq!(tools[0].definition().name.as_str(), "ping");
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
pub struct ProvidedTool {
    definition: ToolDefinition,
    provider: Arc<dyn ToolProvider>,
}

impl ProvidedTool {
    /// Returns the current tools of a provider.
    #[must_use]
    pub fn all(provider: impl ToolProvider) -> Vec<Self> {
        let provider: Arc<dyn ToolProvider> = Arc::new(provider);
        let mut tools = Vec::new();
        for definition in provider.tools() {
            tools.push(Self { definition, provider: provider.clone() });
        }
        tools
    }
}

impl ProvidedTool {
    fn to_call(&self, arguments: &str, context: &ToolContext) -> ToolCall {
        let id = context.call_id().cloned().unwrap_or_else(|| "".into());
        ToolCall::new(id, self.definition.name.as_str(), arguments)
    }
}

impl Tool for ProvidedTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        self.provider.handle(self.to_call(arguments, context), context)
    }

    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        self.provider.validate(&self.to_call(arguments, context), &self.definition, context)
    }
}

impl fmt::Debug for ProvidedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProvidedTool").field("definition", &self.definition).finish_non_exhaustive()
    }
}
