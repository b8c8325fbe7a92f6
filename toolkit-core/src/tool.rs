//! Tools: what they say about themselves, and how one is run.

mod adapted;
mod answer;
mod argument;
mod arguments;
mod call_reason;
mod closure;
mod definition;
#[cfg(feature = "jsonschema")]
mod dynamic;
mod function;
mod future;
mod metadata;
mod provider;
mod run;
mod toolset;

pub use adapted::AdaptedTool;
pub use answer::{Deferred, Immediate, ToolAnswer};
pub use argument::ArgumentTransform;
pub(crate) use call_reason::{REASON, asks_for_reason, part_reason, takes_reason_itself};
pub use closure::ClosureTool;
pub use definition::{TextFormat, ToolDefinition, ToolKind};
#[cfg(feature = "jsonschema")]
pub use dynamic::DynamicTool;
pub use function::{CallFn, Function, FunctionTool, Invocation, ToolCell};
pub use future::ToolFuture;
pub use metadata::{Locality, ToolMetadata, ToolSource, ToolTag, UnknownArguments};
pub use provider::{ProvidedTool, ToolProvider};
pub(crate) use run::{Running, go_on, panic_text, start};
pub use toolset::Toolset;

use crate::args::arguments_value;
use crate::context::{StateNeed, ToolContext};
use serde_json::Value;
use std::sync::Arc;

/// Something that a model can call.
///
/// `#[tool]` functions become a [`FunctionTool`], which implements it. Implement it by hand for tools
/// whose schema is made in a way of their own.
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
/// let echo = Echo(ToolDefinition::new(ToolName::new("echo")?, "Says it again.", schema));
/// assert_eq!(echo.definition().name.as_str(), "echo");
/// # Ok::<(), toolkit::name::NameError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "the tool of a `#[tool]` function `add` is `add::tool()`; several are listed with `tools![add, …]`"
)]
pub trait Tool: Send + Sync {
    /// What the model reads about the tool.
    fn definition(&self) -> &ToolDefinition;

    /// Starts one call. `arguments` is the JSON text as the model wrote it; nothing was checked yet.
    ///
    /// Whoever runs the future stops it at a time limit or a cancellation by dropping it.
    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a>;

    /// The parameter that an argument of this name is for, if the tool knows it by another.
    fn parameter_named(&self, _name: &str) -> Option<&str> {
        None
    }

    /// What a call works on, if the tool has a [lane](ToolMetadata::lane): the value that these arguments have for
    /// it. A text and the value that it spells are one, as for the tool. `None` if they cannot be read.
    fn lane_value(&self, arguments: &str) -> Option<String> {
        lane_value(self.definition(), |name| self.parameter_named(name).map(str::to_owned), arguments)
    }

    /// The types of [state](crate::ToolRegistry::with_state) that the tool cannot do without.
    fn state_needs(&self) -> &[StateNeed] {
        &[]
    }
}

impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn definition(&self) -> &ToolDefinition {
        (**self).definition()
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        (**self).call(arguments, context)
    }

    fn parameter_named(&self, name: &str) -> Option<&str> {
        (**self).parameter_named(name)
    }

    fn lane_value(&self, arguments: &str) -> Option<String> {
        (**self).lane_value(arguments)
    }

    fn state_needs(&self) -> &[StateNeed] {
        (**self).state_needs()
    }
}

fn lane_value(
    definition: &ToolDefinition,
    parameter: impl Fn(&str) -> Option<String>,
    arguments: &str,
) -> Option<String> {
    let lane = definition.metadata.lane.as_deref()?;
    // The tool refuses what cannot be read.
    let arguments = arguments_value(arguments, parameter).ok()?;
    Some(match arguments.get(lane) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "null".to_owned(),
    })
}
