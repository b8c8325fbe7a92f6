//! What a closure gives back to be a tool: a value, or a future of one.

use super::ToolFuture;
use crate::output::IntoToolOutput;

/// What a closure gives back to be a tool: something that is [`IntoToolOutput`], or a future of it.
///
/// `When` is [`Immediate`] or [`Deferred`]; the compiler finds out which.
#[diagnostic::on_unimplemented(
    message = "a closure that returns `{Self}` cannot be a tool",
    label = "this has no form for the model",
    note = "return `Json(value)` for a type that is `serde::Serialize`, or text, a number, a list, `ToolOutput`",
    note = "or a `Result<T, E>` of these, where `E` needs `Display`; or a future of any of them that is `Send`"
)]
pub trait ToolAnswer<When> {
    /// Whether the closure is asynchronous.
    const IS_ASYNC: bool;

    /// The started call.
    fn into_call(self) -> ToolFuture<'static>;
}

/// The answer is there when the closure returns.
#[derive(Debug, Clone, Copy)]
pub struct Immediate;

/// The answer is there when the future is done that the closure returns.
#[derive(Debug, Clone, Copy)]
pub struct Deferred;

impl<T: IntoToolOutput> ToolAnswer<Immediate> for T {
    const IS_ASYNC: bool = false;

    fn into_call(self) -> ToolFuture<'static> {
        ToolFuture::ready(self.into_tool_output())
    }
}

impl<F> ToolAnswer<Deferred> for F
where
    F: Future<Output: IntoToolOutput> + Send + 'static,
{
    const IS_ASYNC: bool = true;

    fn into_call(self) -> ToolFuture<'static> {
        ToolFuture::running(self, IntoToolOutput::into_tool_output)
    }
}
