//! The output of tools: content for the model, and the conversion of return values into output.

mod bytes;
mod content;
mod form;
mod into;
pub(crate) mod probes;
pub mod serde;
mod sink;
mod truncate;

pub use bytes::Base64;
pub use content::{Content, JsonText, Media, MediaData, Resource};
pub use form::OutputForm;
#[cfg(feature = "tower")]
pub(crate) use into::failed;
pub use into::{IntoToolOutput, Json};
pub(crate) use probes::OutputType;
pub use sink::{FullOutput, OutputSink};
pub use truncate::{Truncation, TruncationStrategy};

use crate::error::ToolError;
use serde_json::Value;
use std::borrow::Cow;

pub(crate) type Outcome = Result<ToolOutput, ToolError>;

/// The output of a tool, with content for the model.
///
/// It may also have a structured value for programs, a message for the model about the result, and a brief
/// text for the user.
///
/// ```
/// use toolkit_ai::ToolOutput;
///
/// let output = ToolOutput::text("Beijing: clear, 25 °C").with_brief("weather found");
/// assert_eq!(output.to_text(), "Beijing: clear, 25 °C");
/// assert_eq!(output.brief(), "weather found");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    content: ContentList,
    notes: Option<Box<Notes>>,
}

/// A list of contents, without an allocation for a single one.
#[derive(Debug, Clone)]
enum ContentList {
    One(Content),
    Many(Vec<Content>),
}

impl ContentList {
    fn as_slice(&self) -> &[Content] {
        match self {
            Self::One(content) => std::slice::from_ref(content),
            Self::Many(list) => list,
        }
    }

    fn into_vec(self) -> Vec<Content> {
        match self {
            Self::One(content) => vec![content],
            Self::Many(list) => list,
        }
    }
}

impl PartialEq for ContentList {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Default for ContentList {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Notes {
    structured: Option<Value>,
    message: String,
    brief: String,
}

impl ToolOutput {
    /// Creates output from [`Content`] values.
    #[must_use]
    pub fn new(content: Vec<Content>) -> Self {
        Self { content: ContentList::Many(content), notes: None }
    }

    /// Creates output with plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Content::text(text).into()
    }

    /// Creates output with `value` written as JSON.
    ///
    /// # Errors
    /// The value has no JSON form, for instance a map with keys other than strings.
    pub fn json<T: ::serde::Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        JsonText::new(value).map(|json| Content::Json(json).into())
    }

    /// Creates output with an image, audio or a file, depending on the media type.
    ///
    /// ```
    /// use toolkit_ai::{Content, ToolOutput};
    ///
    /// let output = ToolOutput::media("image/png", b"\x89PNG").with_brief("chart drawn");
    /// assert!(matches!(output.content(), [Content::Image(_)]));
    /// ```
    #[must_use]
    pub fn media(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Media::new(media_type, bytes).into()
    }

    /// Appends a [`Content`] value.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<Content>) -> Self {
        let content = content.into();
        self.content = match self.content {
            ContentList::One(first) => ContentList::Many(vec![first, content]),
            ContentList::Many(mut list) => {
                list.push(content);
                ContentList::Many(list)
            }
        };
        self
    }

    /// Sets the structured value for programs.
    ///
    /// A model sees only the content. An MCP server sends the value to the client as structured content,
    /// which the client may show to its model.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.notes_mut().structured = Some(value);
        self
    }

    /// Sets a message to explain the result to the model.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.notes_mut().message = message.into();
        self
    }

    /// Sets a short text about the result for the user.
    #[must_use]
    pub fn with_brief(mut self, brief: impl Into<String>) -> Self {
        self.notes_mut().brief = brief.into();
        self
    }

    /// Returns the content in order.
    #[must_use]
    pub fn content(&self) -> &[Content] {
        self.content.as_slice()
    }

    /// Returns the owned content in order.
    #[must_use]
    pub fn into_content(self) -> Vec<Content> {
        self.content.into_vec()
    }

    /// Returns the structured value.
    #[must_use]
    pub fn structured(&self) -> Option<&Value> {
        self.notes.as_deref()?.structured.as_ref()
    }

    /// Returns the message about the result, or an empty string.
    #[must_use]
    pub fn message(&self) -> &str {
        self.notes.as_deref().map_or("", |notes| &notes.message)
    }

    /// Returns the short text for the user, or an empty string.
    #[must_use]
    pub fn brief(&self) -> &str {
        self.notes.as_deref().map_or("", |notes| &notes.brief)
    }

    /// Returns the whole content as text, with a line break between values and short notes for media and
    /// resources.
    #[must_use]
    pub fn to_text(&self) -> Cow<'_, str> {
        match self.content() {
            [only] => only.to_text(),
            list => {
                let texts: Vec<Cow<'_, str>> = list.iter().map(Content::to_text).collect();
                Cow::Owned(texts.join("\n"))
            }
        }
    }

    /// Returns the size of the content and the message in bytes, media as Base64 text or URL.
    pub(crate) fn bytes(&self) -> usize {
        self.content().iter().map(Content::bytes).sum::<usize>() + self.message().len()
    }

    fn take_content(&mut self) -> Vec<Content> {
        std::mem::take(&mut self.content).into_vec()
    }

    fn set_content(&mut self, mut content: Vec<Content>) {
        self.content = match content.pop() {
            Some(only) if content.is_empty() => ContentList::One(only),
            last => {
                content.extend(last);
                ContentList::Many(content)
            }
        };
    }

    fn notes_mut(&mut self) -> &mut Notes {
        self.notes.get_or_insert_default()
    }
}

from! { ToolOutput:
    content: Content => Self { content: ContentList::One(content), notes: None };
    content: &str | String | JsonText | Media => Content::from(content).into();
    value: Value => JsonText::from(value).into();
    contents: Vec<Content> => Self::new(contents);
}
