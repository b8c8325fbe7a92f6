//! Tools: definitions, the kinds of tools, and how one call runs.

mod adapted;
mod argument;
mod arguments;
mod call_reason;
mod closure;
mod closure_return;
mod definition;
#[cfg(feature = "jsonschema")]
mod dynamic;
mod function;
mod future;
mod lane;
mod metadata;
mod provider;
mod run;
mod toolset;

pub use adapted::AdaptedTool;
pub use argument::ArgumentTransform;
pub(crate) use call_reason::{
    CALL_REASON, asks_for_call_reason, has_call_reason_parameter, split_call_reason,
};
pub use closure::ClosureTool;
pub use definition::{TextFormat, ToolDefinition, ToolKind};
#[cfg(feature = "jsonschema")]
pub use dynamic::DynamicTool;
pub use function::{CallFn, Function, FunctionTool, Invocation, ToolCell};
pub use future::ToolFuture;
pub use metadata::{Locality, ToolMetadata, ToolSource, ToolTag, UnknownArguments};
pub use provider::{ProvidedTool, ToolProvider};
pub(crate) use run::{Running, panic_text, start, start_attempt};
pub use toolset::{BlockTools, MoreTools, Toolset, tools_of};

use crate::context::ToolContext;
use std::sync::Arc;

/// A tool that a model can call: a definition and a function.
///
/// `#[tool]` functions become a [`FunctionTool`], which implements it. Implement it by hand for tools that
/// build their schema in another way. What a dispatcher needs to know about a tool is data of its definition.
///
/// ```
/// use toolkit::{Tool, ToolContext, ToolDefinition, ToolFuture, ToolName, ToolOutput};
///
/// struct Echo(ToolDefinition);
///
/// impl Tool for Echo {
///     fn definition(&self) -> &ToolDefinition {
///         &self.0
///     }
///
///     fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
///         ToolFuture::ready(Ok(ToolOutput::text(arguments)))
///     }
/// }
///
/// let schema = serde_json::json!({"type": "object"});
/// let echo = Echo(ToolDefinition::new(ToolName::new("echo")?, "Repeats its arguments.", schema));
/// assert_eq!(echo.definition().name.as_str(), "echo");
/// # Ok::<(), toolkit::name::NameError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "the tool of a `#[tool]` function `add` is `add::tool()`; several are listed with `tools![add, …]`"
)]
pub trait Tool: Send + Sync {
    /// Returns the definition of the tool.
    fn definition(&self) -> &ToolDefinition;

    /// Starts one call. `arguments` is the unchecked JSON text that the model wrote.
    ///
    /// Timeouts and cancellation drop the future.
    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a>;
}

impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn definition(&self) -> &ToolDefinition {
        (**self).definition()
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        (**self).call(arguments, context)
    }
}
