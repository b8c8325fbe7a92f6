//! Tools: the [`Tool`] trait, definitions, kinds, and the execution of one call.

#![warn(clippy::missing_trait_methods, reason = "a wrapper forwards every method of `Tool`")]

mod adapted;
mod argument;
mod arguments;
mod bound;
mod call_reason;
mod closure;
#[cfg(feature = "jsonschema")]
mod dynamic;
mod function;
mod future;
mod lane;
mod made_once;
mod metadata;
mod provider;
mod rewriting;
mod spelled;
mod start;
mod tool_definition;
mod tool_kind;
mod toolset;
mod typed;

pub use adapted::AdaptedTool;
pub use argument::ArgumentTransform;
pub(crate) use bound::BoundTool;
pub(crate) use call_reason::{
    CALL_REASON, asks_for_call_reason, has_call_reason_parameter, split_call_reason,
};
pub use closure::ClosureTool;
#[cfg(feature = "jsonschema")]
pub use dynamic::DynamicTool;
pub use function::{CallFn, Function, FunctionTool, Invocation, ToolCell};
pub use future::ToolFuture;
pub use metadata::{ToolIcon, ToolMetadata, ToolSource, ToolTag, UnknownArguments};
pub use provider::{ProvidedTool, ToolProvider};
pub use spelled::parameter_names;
pub(crate) use spelled::{has_refused_parameter, own_parameter_names};
pub(crate) use start::{GuardedFuture, begin, check, run};
pub use tool_definition::ToolDefinition;
pub use tool_kind::{TextFormat, ToolKind};
pub use toolset::{BlockTools, MoreTools, Toolset, ToolsetWithoutExtends};

use crate::context::ToolContext;
use crate::error::ToolError;
use crate::name::ToolName;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Generates setters and `Debug` for tool types with a `definition_mut` method.
macro_rules! definition_setters {
    ($($ty:ident)*) => {$(
        impl $ty {
            /// Sets the name of the tool.
            #[must_use]
            pub fn with_name(mut self, name: ToolName) -> Self {
                self.definition_mut().name = name;
                self
            }

            /// Sets the description of the tool for the model.
            #[must_use]
            pub fn with_description(mut self, description: impl Into<String>) -> Self {
                self.definition_mut().description = description.into();
                self
            }

            /// Sets the time limit of each call. It overrides the limits of the dispatcher and the
            /// registry, except for the dispatcher's hard limit.
            #[must_use]
            pub fn with_timeout(mut self, limit: Duration) -> Self {
                self.definition_mut().metadata.timeout = Some(limit);
                self
            }
        }

        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let definition = Tool::definition(self);
                f.debug_struct(stringify!($ty)).field("definition", definition).finish_non_exhaustive()
            }
        }
    )*};
}

definition_setters! { FunctionTool ClosureTool AdaptedTool }

#[cfg(feature = "jsonschema")]
definition_setters! { DynamicTool }

/// A tool for the model to call: a definition and a function.
///
/// A `#[tool]` function becomes a [`FunctionTool`]. Implement this trait by hand to build the schema in
/// another way. All else that the dispatcher needs to know is data in the [`ToolDefinition`].
///
/// ```
/// use toolkit_ai::{Tool, ToolContext, ToolDefinition, ToolFuture, ToolName, ToolOutput};
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
/// # Ok::<(), toolkit_ai::name::NameError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "the tool of a `#[tool]` function `add` is `add::tool()`; several are listed with `tools![add, …]`",
    note = "a registry gets all tools of a list, a toolset, a client or a document with `register_all`"
)]
pub trait Tool: Send + Sync {
    /// Returns the definition of the tool.
    fn definition(&self) -> &ToolDefinition;

    /// Starts one call with the JSON text `arguments`.
    ///
    /// The library has checked the arguments against the published
    /// [parameters](ToolDefinition::parameters), under their names and [coerced](ToolMetadata::coerce). A
    /// tool with Rust types checks them while it decodes them.
    ///
    /// A timeout or a cancellation drops the returned future.
    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a>;

    /// Checks a call without running it.
    ///
    /// Tools of this library decode the arguments and return the error of such a call. The default checks
    /// them against the published [parameters](ToolDefinition::parameters), after
    /// [coercion](ToolMetadata::coerce). Implement this method for a tool that refuses more. A wrapper
    /// around another tool must forward it.
    ///
    /// # Errors
    /// The error that the call would return.
    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        self.definition().normal_arguments(arguments, Some(context)).map(drop)
    }
}

/// Checks the arguments by starting a call of `tool`, which must first decode them and then [end the
/// check](ToolContext::end_check).
fn check_by_call(tool: &impl Tool, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
    let decoded = Arc::new(AtomicBool::new(false));
    match tool.call(arguments, &context.of_check(decoded.clone())).try_ready() {
        Ok(Err(error)) if !decoded.load(Ordering::Relaxed) => Err(error),
        _ => Ok(()),
    }
}

impl fmt::Debug for dyn Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.definition().name.fmt(f)
    }
}

impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn definition(&self) -> &ToolDefinition {
        (**self).definition()
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        (**self).call(arguments, context)
    }

    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        (**self).validate(arguments, context)
    }
}
