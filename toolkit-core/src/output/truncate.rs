//! Keeping results short.

mod cut;

use super::sink::{FullOutput, OutputSink};
use super::{Content, ToolOutput};
use crate::call::CallId;
use crate::error::ToolError;
use cut::Plan;
use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Which part of a text that is too long stays.
///
/// ```
/// use toolkit::output::TruncationStrategy;
///
/// let text = "0123456789".repeat(10);
/// assert_eq!(TruncationStrategy::Head.cut(&text, 33), "0123\n... (truncated 96 chars) ...");
/// assert_eq!(TruncationStrategy::Tail.cut(&text, 33), "... (truncated 96 chars) ...\n6789");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TruncationStrategy {
    /// The beginning.
    Head,
    /// The end.
    Tail,
    /// The beginning and the end, in equal parts.
    #[default]
    HeadTail,
}

impl TruncationStrategy {
    /// At most `limit` characters of the text, counted with the words that say how many are missing. Where
    /// these have no room, `…` says that there was more.
    #[must_use]
    pub fn cut(self, text: &str, limit: usize) -> Cow<'_, str> {
        let total = text.chars().count();
        if total <= limit {
            return Cow::Borrowed(text);
        }
        let cut = Plan::new(total, limit, self, "").cut(text, 0, total, total);
        cut.map_or(Cow::Borrowed(text), Cow::Owned)
    }
}

/// How results are kept short.
///
/// A tool's own [`max_result_size`](crate::ToolMetadata::max_result_size) goes before the limit that is
/// set here. Limits count characters (Unicode scalar values), over all texts of a result together, with
/// the words that say what is missing. Pictures, sounds, files and links stay and do not count. JSON of which
/// a part is missing is no JSON any more and becomes text. The [structured](ToolOutput::structured) value,
/// which is for the program, stays whole.
///
/// ```
/// use toolkit::ToolOutput;
/// use toolkit::output::Truncation;
///
/// let output = Truncation::new(50).apply("read", None, ToolOutput::text("x".repeat(100)));
/// assert_eq!(output.to_text(), "xxxxxxxxxx\n... (truncated 80 chars) ...\nxxxxxxxxxx");
/// ```
#[derive(Clone, Default)]
pub struct Truncation {
    limit: Option<usize>,
    strategy: TruncationStrategy,
    sink: Option<Arc<dyn OutputSink>>,
}

impl Truncation {
    /// Results have at most so many characters. With [`Truncation::default`], only tools that set a limit
    /// themselves have one.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }

    /// Sets which part of a text stays.
    #[must_use]
    pub fn with_strategy(mut self, strategy: TruncationStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets what keeps the full texts. The model is told where they are.
    #[must_use]
    pub fn with_sink(mut self, sink: impl OutputSink + 'static) -> Self {
        self.sink = Some(Arc::new(sink));
        self
    }

    /// The limit of a tool that may have one of its own.
    pub(crate) fn limit_of(&self, own: Option<usize>) -> Option<usize> {
        own.or(self.limit)
    }

    /// The output of a call of this tool, as short as the limit demands.
    #[must_use]
    pub fn apply(&self, tool: &str, call_id: Option<&CallId>, output: ToolOutput) -> ToolOutput {
        match self.limit {
            Some(limit) => self.shorten(limit, tool, call_id, output),
            None => output,
        }
    }

    /// The output in at most `limit` characters.
    pub(crate) fn shorten(
        &self,
        limit: usize,
        tool: &str,
        call_id: Option<&CallId>,
        mut output: ToolOutput,
    ) -> ToolOutput {
        let lengths: Vec<usize> = output.content().iter().filter_map(text_of).map(str::len).collect();
        // Bytes are at least as many as characters, and known without counting.
        if lengths.iter().sum::<usize>() + lengths.len().saturating_sub(1) <= limit {
            return output;
        }
        let texts: Vec<&str> = output.content().iter().filter_map(text_of).collect();
        let between = texts.len().saturating_sub(1);
        let total = texts.iter().map(|text| text.chars().count()).sum();
        if total + between <= limit {
            return output;
        }
        let is_json = matches!(output.content(), [Content::Json(_)]);
        let note = self.note(&FullOutput { tool, call_id, text: &texts.join("\n"), is_json });
        let plan = Plan::new(total, limit.saturating_sub(between), self.strategy, &note);
        let mut start = 0;
        output.change_content(|content| {
            let Some(text) = text_of(&content) else { return Some(content) };
            let length = text.chars().count();
            let cut = plan.cut(text, start, length, total);
            start += length;
            match cut {
                None => Some(content),
                Some(nothing) if nothing.is_empty() => None,
                Some(cut) => Some(Content::Text(cut)),
            }
        });
        output
    }

    /// The error with a message of at most `limit` characters.
    pub(crate) fn shorten_error(
        &self,
        limit: usize,
        tool: &str,
        call_id: Option<&CallId>,
        error: ToolError,
    ) -> ToolError {
        let total = error.message().chars().count();
        if total <= limit {
            return error;
        }
        let note = self.note(&FullOutput { tool, call_id, text: error.message(), is_json: false });
        let cut = Plan::new(total, limit, self.strategy, &note).cut(error.message(), 0, total, total);
        match cut {
            Some(message) => error.with_message(message),
            None => error,
        }
    }

    /// Has the sink keep the text, and says where it is.
    fn note(&self, full: &FullOutput<'_>) -> String {
        let Some(sink) = &self.sink else { return String::new() };
        // A sink is the program's code; its panic must not cost the call its result.
        match catch_unwind(AssertUnwindSafe(|| sink.keep(full))) {
            Ok(Ok(place)) => format!(", full output: {place}"),
            Ok(Err(_)) | Err(_) => ", the full output could not be kept".to_owned(),
        }
    }
}

/// What of a content counts.
fn text_of(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) => Some(text),
        Content::Json(json) => Some(json.as_str()),
        Content::Image(_) | Content::Audio(_) | Content::File(_) | Content::Resource(_) => None,
    }
}

impl fmt::Debug for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Truncation")
            .field("limit", &self.limit)
            .field("strategy", &self.strategy)
            .field("sink", &self.sink.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests;
