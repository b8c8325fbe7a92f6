//! The return values of closures that become tools: a value, or a future of it.

use super::ToolFuture;
use crate::output::IntoToolOutput;

/// The return value of a closure that becomes a tool: an [`IntoToolOutput`] value, or a future of it.
///
/// `Kind` is [`Value`] or [`Awaited`]; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "a closure that returns `{Self}` cannot be a tool",
    label = "this has no form for the model",
    note = "return `Json(value)` for a type that is `serde::Serialize`, or text, a number, a list, `ToolOutput`",
    note = "or a `Result<T, E>` of these, where `E` needs `Display`; or a future of any of them that is `Send`"
)]
pub trait ClosureReturn<Kind> {
    /// Whether the closure is asynchronous.
    const IS_ASYNC: bool;

    /// Starts the call.
    fn into_call(self) -> ToolFuture<'static>;
}

/// Marks a closure that returns its value.
#[derive(Debug, Clone, Copy)]
pub struct Value;

/// Marks a closure that returns a future of its value.
#[derive(Debug, Clone, Copy)]
pub struct Awaited;

impl<T: IntoToolOutput> ClosureReturn<Value> for T {
    const IS_ASYNC: bool = false;

    fn into_call(self) -> ToolFuture<'static> {
        ToolFuture::ready(self.into_tool_output())
    }
}

impl<F> ClosureReturn<Awaited> for F
where
    F: Future<Output: IntoToolOutput> + Send + 'static,
{
    const IS_ASYNC: bool = true;

    fn into_call(self) -> ToolFuture<'static> {
        ToolFuture::running(self, IntoToolOutput::into_tool_output)
    }
}
