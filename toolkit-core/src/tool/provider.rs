//! Tools that something else has: a server, another process, a collection of the program's own.

use super::{Tool, ToolDefinition, ToolFuture};
use crate::call::ToolCall;
use crate::context::ToolContext;
use std::fmt;
use std::sync::Arc;

/// Something that has tools of its own and answers calls of them: a server, a worker on another machine, a
/// collection of the program's own, a [`Dispatcher`](crate::Dispatcher).
///
/// [`ToolRegistry::register_provider`](crate::ToolRegistry::register_provider) puts its tools beside all others; they
/// can then be renamed, filtered, switched off and limited like those.
///
/// It is called a provider, because a [`Toolset`](super::Toolset) is a value of this program whose methods are tools,
/// decoded one by one; here one function answers for all tools, and what they are is known only at run time.
///
/// ```
/// use serde_json::json;
/// use toolkit::{
///     ToolCall, ToolContext, ToolDefinition, ToolFuture, ToolName, ToolOutput, ToolProvider,
///     ToolRegistry,
/// };
///
/// struct Echo;
///
/// impl ToolProvider for Echo {
///     fn tools(&self) -> Vec<ToolDefinition> {
///         let name = ToolName::new("echo").into_iter();
///         name.map(|name| ToolDefinition::new(name, "Says it again.", json!({"type": "object"}))).collect()
///     }
///
///     fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
///         ToolFuture::running(async move { call.arguments.to_string() }, |text| Ok(ToolOutput::text(text)))
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
pub trait ToolProvider: Send + Sync + 'static {
    /// The tools that there are now.
    fn tools(&self) -> Vec<ToolDefinition>;

    /// Starts a call of one of the tools, under the name that its definition has here. The id is the provider's of
    /// the model, or empty if the program makes the call itself.
    ///
    /// It must not block: what takes time belongs into the future, which is dropped when the call is given up. All
    /// that goes wrong is part of the outcome; a panic, here or in the future, becomes an error of the call.
    fn handle<'a>(&'a self, call: ToolCall, context: &'a ToolContext) -> ToolFuture<'a>;
}

impl<T: ToolProvider + ?Sized> ToolProvider for Arc<T> {
    fn tools(&self) -> Vec<ToolDefinition> {
        (**self).tools()
    }

    fn handle<'a>(&'a self, call: ToolCall, context: &'a ToolContext) -> ToolFuture<'a> {
        (**self).handle(call, context)
    }
}

/// One tool of a [`ToolProvider`].
#[derive(Clone)]
pub struct ProvidedTool {
    definition: ToolDefinition,
    provider: Arc<dyn ToolProvider>,
}

impl ProvidedTool {
    /// The tools that a provider has now.
    #[must_use]
    pub fn all(provider: impl ToolProvider) -> Vec<Self> {
        let provider: Arc<dyn ToolProvider> = Arc::new(provider);
        let tool = |definition| Self { definition, provider: provider.clone() };
        provider.tools().into_iter().map(tool).collect()
    }
}

impl Tool for ProvidedTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        let id = context.call_id().cloned().unwrap_or_else(|| "".into());
        self.provider.handle(ToolCall::new(id, self.definition.name.as_str(), arguments), context)
    }
}

impl fmt::Debug for ProvidedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProvidedTool").field("definition", &self.definition).finish_non_exhaustive()
    }
}
