//! Sinks: storage for the full texts of truncated results.

use crate::call::CallId;
use std::error::Error;
use std::pin::Pin;

/// The full text of a truncated result, for an [`OutputSink`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FullOutput {
    /// The name of the tool.
    pub tool: String,
    /// The provider's id of the call. `None` for a call of the program itself.
    pub call_id: Option<CallId>,
    /// The full text, with line breaks between several `Content` values.
    pub text: String,
    /// Whether the text is JSON.
    pub is_json: bool,
}

/// A store for the full texts of truncated results, for example an asynchronous closure.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use toolkit_ai::ToolOutput;
/// use toolkit_ai::output::{FullOutput, Truncation};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let stored = Arc::new(Mutex::new(Vec::new()));
/// let shelf = stored.clone();
/// let truncation = Truncation::new(60).with_sink(move |full: FullOutput| {
///     let mut shelf = shelf.lock().unwrap();
///     shelf.push(full.text);
///     std::future::ready(Ok(format!("shelf {}", shelf.len())))
/// });
/// let output = truncation.apply("read", None, ToolOutput::text("x".repeat(100))).await;
/// assert_eq!(output.to_text(), "xxxx\n... (truncated 92 chars, full output: shelf 1) ...\nxxxx");
/// assert_eq!(stored.lock().unwrap()[0].len(), 100);
/// # });
/// ```
pub trait OutputSink: Send + Sync + 'static {
    /// Stores the text and returns its location as a phrase for the model.
    ///
    /// The location may be a path, a URL, or a number to pass to another tool. If the call is cancelled,
    /// the future is dropped, and the text counts as not stored.
    ///
    /// # Errors
    /// The reason why the text could not be stored. The call does not fail: the truncated result tells the
    /// model that the full output is missing.
    fn store(
        &self,
        full: FullOutput,
    ) -> impl Future<Output = Result<String, Box<dyn Error + Send + Sync>>> + Send;
}

impl<F, Fut> OutputSink for F
where
    F: Fn(FullOutput) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, Box<dyn Error + Send + Sync>>> + Send,
{
    fn store(
        &self,
        full: FullOutput,
    ) -> impl Future<Output = Result<String, Box<dyn Error + Send + Sync>>> + Send {
        self(full)
    }
}

pub(super) type PlaceFuture<'a> =
    Pin<Box<dyn Future<Output = Result<String, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

pub(super) trait DynSink: Send + Sync {
    fn store_boxed(&self, full: FullOutput) -> PlaceFuture<'_>;
}

impl<S: OutputSink> DynSink for S {
    fn store_boxed(&self, full: FullOutput) -> PlaceFuture<'_> {
        Box::pin(self.store(full))
    }
}
