//! Truncation of long results.

mod cut;

use super::sink::{DynSink, FullOutput, OutputSink};
use super::{Content, ToolOutput};
use crate::call::CallId;
use crate::error::ToolError;
use crate::guard::{discard, guarded_future};
use cut::Cut;
use std::borrow::Cow;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// Which part of a long text to keep.
///
/// ```
/// use toolkit_ai::output::TruncationStrategy;
///
/// let text = "0123456789".repeat(10);
/// assert_eq!(TruncationStrategy::Head.cut(&text, 33), "0123\n... (truncated 96 chars) ...");
/// assert_eq!(TruncationStrategy::Tail.cut(&text, 33), "... (truncated 96 chars) ...\n6789");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TruncationStrategy {
    /// Keep the beginning of the text.
    Head,
    /// Keep the end of the text.
    Tail,
    /// Keep both ends of the text, in equal parts.
    #[default]
    HeadTail,
}

impl TruncationStrategy {
    /// Returns at most `limit` characters of `text`, including a note with the number of missing
    /// characters.
    ///
    /// Without room for the note, `…` replaces it.
    #[must_use]
    pub fn cut(self, text: &str, limit: usize) -> Cow<'_, str> {
        let total = text.chars().count();
        if total <= limit {
            return Cow::Borrowed(text);
        }
        Cow::Owned(Cut::new(total, limit, self, "").apply(text, total))
    }
}

/// Settings for the truncation of long results.
///
/// A tool's own [`max_result_size`](crate::ToolMetadata::max_result_size) takes precedence over the limit
/// set here. Limits count characters (Unicode scalar values) of all texts of a result, with the note about
/// the missing part, and without media items and links. Truncated texts are joined to one, and truncated
/// JSON becomes plain text. The [structured](ToolOutput::structured) value is never truncated.
///
/// ```
/// use toolkit_ai::ToolOutput;
/// use toolkit_ai::output::Truncation;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let output = Truncation::new(50).apply("read", None, ToolOutput::text("x".repeat(100))).await;
/// assert_eq!(output.to_text(), "xxxxxxxxxx\n... (truncated 80 chars) ...\nxxxxxxxxxx");
/// # });
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Truncation {
    limit: Option<usize>,
    strategy: TruncationStrategy,
    sink: Option<Arc<dyn DynSink>>,
}

impl Truncation {
    /// Creates settings to truncate all results to `limit` characters.
    ///
    /// [`Truncation::default`] truncates only results of tools with their own limit.
    pub fn new(limit: usize) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }

    /// Returns the size limit for a tool with its `own` limit.
    pub(crate) fn limit_of(&self, own: Option<usize>) -> Option<usize> {
        own.or(self.limit)
    }

    /// Truncates the output of a call, without regard to the tool's own limit.
    #[must_use = "the output is in the future"]
    pub async fn apply(&self, tool: &str, call_id: Option<&CallId>, output: ToolOutput) -> ToolOutput {
        match self.limit {
            Some(limit) => self.shorten(limit, tool, call_id, output, pending()).await,
            None => output,
        }
    }

    /// Truncates an output to `limit` characters. The wait for the sink ends with `given_up`.
    pub(crate) async fn shorten(
        &self,
        limit: usize,
        tool: &str,
        call_id: Option<&CallId>,
        mut output: ToolOutput,
        given_up: impl Future<Output = ()>,
    ) -> ToolOutput {
        let texts: Vec<&str> = output.content().iter().filter_map(text_of).collect();
        let text = match texts.as_slice() {
            [only] => Cow::Borrowed(*only),
            texts => Cow::Owned(texts.join("\n")),
        };
        let is_json = matches!(output.content(), [Content::Json(_)]);
        let Some(shortened) = self.shorten_text(limit, tool, call_id, &text, is_json, given_up).await else {
            return output;
        };
        // The shortened text stands in the place of the first text.
        let mut first = Some(shortened);
        let mut contents = Vec::new();
        for content in output.take_content() {
            if text_of(&content).is_none() {
                contents.push(content);
            } else if let Some(text) = first.take()
                && !text.is_empty()
            {
                contents.push(Content::Text(text));
            }
        }
        output.set_content(contents);
        output
    }

    /// Truncates the message of an error like [`shorten`](Self::shorten).
    pub(crate) async fn shorten_error(
        &self,
        limit: usize,
        tool: &str,
        call_id: Option<&CallId>,
        error: ToolError,
        given_up: impl Future<Output = ()>,
    ) -> ToolError {
        match self.shorten_text(limit, tool, call_id, error.message(), false, given_up).await {
            Some(message) => error.with_message(message),
            None => error,
        }
    }

    /// Returns `text` in `limit` characters, or `None` if it is not longer.
    async fn shorten_text(
        &self,
        limit: usize,
        tool: &str,
        call_id: Option<&CallId>,
        text: &str,
        is_json: bool,
        given_up: impl Future<Output = ()>,
    ) -> Option<String> {
        // Counting characters is slow, and there are not more of them than bytes.
        let total = if text.len() <= limit { 0 } else { text.chars().count() };
        if total <= limit {
            return None;
        }
        let note = match &self.sink {
            Some(sink) => {
                let text = text.to_owned();
                let full = FullOutput { tool: tool.to_owned(), call_id: call_id.cloned(), text, is_json };
                note(&**sink, full, given_up).await
            }
            None => String::new(),
        };
        Some(Cut::new(total, limit, self.strategy, &note).apply(text, total))
    }
}

setters! { Truncation:
    /// Sets the part of a long text to keep.
    with_strategy(strategy: TruncationStrategy) = strategy;
    /// Sets the sink for the full texts. The truncated result tells the model where they are.
    with_sink(sink: impl OutputSink) = Some(Arc::new(sink));
}

/// Stores the full text and returns the note about its location. The sink's future ends with `given_up`.
async fn note(sink: &dyn DynSink, full: FullOutput, given_up: impl Future<Output = ()>) -> String {
    let mut storing = Box::pin(guarded_future(async { sink.store_boxed(full).await }));
    let mut given_up = pin!(given_up);
    let stored = poll_fn(|cx| match storing.as_mut().poll(cx) {
        Poll::Ready(stored) => Poll::Ready(Some(stored)),
        Poll::Pending => given_up.as_mut().poll(cx).map(|()| None),
    })
    .await;
    discard(storing);
    match stored {
        Some(Ok(Ok(place))) => format!(", full output: {place}"),
        _ => ", the full output could not be kept".to_owned(),
    }
}

fn text_of(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) => Some(text),
        Content::Json(json) => Some(json.as_str()),
        Content::Image(_) | Content::Audio(_) | Content::File(_) | Content::Resource(_) => None,
    }
}

impl_debug!(Truncation, |this| limit: this.limit, strategy: this.strategy, sink: this.sink.is_some());

#[cfg(test)]
mod tests;
