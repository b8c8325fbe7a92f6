//! Where the full text of a result goes of which the model gets only a part.

use crate::call::CallId;
use std::error::Error;

/// The full text of a result of which the model gets only a part.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FullOutput<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The provider's id of the call; `None` for a call that the program made itself.
    pub call_id: Option<&'a CallId>,
    /// The text. Several contents are divided by a line break.
    pub text: &'a str,
    /// Whether the text is JSON.
    pub is_json: bool,
}

/// Keeps the full text of results of which the model gets only a part. Closures are sinks too.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use toolkit::ToolOutput;
/// use toolkit::output::{FullOutput, Truncation};
///
/// let kept = Arc::new(Mutex::new(Vec::new()));
/// let shelf = kept.clone();
/// let truncation = Truncation::new(60).with_sink(move |full: &FullOutput<'_>| {
///     let mut kept = shelf.lock().map_err(|_| "the shelf is broken")?;
///     kept.push(full.text.to_owned());
///     Ok(format!("shelf {}", kept.len()))
/// });
/// let output = truncation.apply("read", None, ToolOutput::text("x".repeat(100)));
/// assert_eq!(output.to_text(), "xxxx\n... (truncated 92 chars, full output: shelf 1) ...\nxxxx");
/// assert_eq!(kept.lock().unwrap()[0].len(), 100);
/// ```
pub trait OutputSink: Send + Sync {
    /// Keeps the text and returns where it is, in words that help the model: a path, an address, a number
    /// that another tool takes.
    ///
    /// It is called on the task of the call, so what takes long belongs on a thread of its own.
    ///
    /// # Errors
    /// Why the text could not be kept. The call does not fail for it; the result says that the rest is lost.
    fn keep(&self, full: &FullOutput<'_>) -> Result<String, Box<dyn Error + Send + Sync>>;
}

impl<F> OutputSink for F
where
    F: Fn(&FullOutput<'_>) -> Result<String, Box<dyn Error + Send + Sync>> + Send + Sync,
{
    fn keep(&self, full: &FullOutput<'_>) -> Result<String, Box<dyn Error + Send + Sync>> {
        self(full)
    }
}
