//! What a tool gives back: content for the model, and how plain values become it.

mod bytes;
mod content;
mod convert;
mod outcome;
mod returned;
pub mod serde;
mod sink;
mod truncate;

pub use bytes::Base64;
pub use content::{Content, JsonText, Media, MediaData, Resource};
#[cfg(feature = "tower")]
pub(crate) use convert::failed;
pub use convert::{
    ByConversion, ByDisplay, ByError, BySerialize, Failure, Infallible, Output, Unconvertible,
};
pub use convert::{ErrorText, IntoToolOutput, ToolReturn};
pub use outcome::{IntoOutcome, Json};
pub use returned::{AlwaysSuccess, Returned, SchemaByConversion, SchemaByType, SchemaFn, Undescribed};
pub use sink::{FullOutput, OutputSink};
pub use truncate::{Truncation, TruncationStrategy};

use serde_json::Value;
use std::borrow::Cow;

/// What a tool gives back.
///
/// `content` is for the model. Beside it there may be a structured value for the program, a message
/// that explains the result to the model, and a brief text for the user.
///
/// ```
/// use toolkit::ToolOutput;
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

/// One content is by far the most common, and needs no allocation of its own.
#[derive(Debug, Clone, PartialEq)]
enum ContentList {
    One(Content),
    Many(Vec<Content>),
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
    /// Output of several contents; none is an empty output.
    #[must_use]
    pub fn new(content: Vec<Content>) -> Self {
        Self { content: ContentList::Many(content), notes: None }
    }

    /// Plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text(text.into()).into()
    }

    /// A value, written as JSON.
    ///
    /// # Errors
    /// What `serde_json` says if the value cannot be written as JSON, for instance a map whose keys
    /// are not strings.
    pub fn json<T: ::serde::Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        JsonText::new(value).map(|json| Content::Json(json).into())
    }

    /// Bytes of a media type: an image, a sound or a file, as the media type says.
    ///
    /// ```
    /// use toolkit::{Content, ToolOutput};
    ///
    /// let output = ToolOutput::media("image/png", b"\x89PNG").with_brief("chart drawn");
    /// assert!(matches!(output.content(), [Content::Image(_)]));
    /// ```
    #[must_use]
    pub fn media(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Media::new(media_type, bytes).into()
    }

    /// Adds a content at the end.
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

    /// Sets the value for the program, which the model does not see.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.notes_mut().structured = Some(value);
        self
    }

    /// Sets a text that explains the result to the model.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.notes_mut().message = message.into();
        self
    }

    /// Sets the short text for the user.
    #[must_use]
    pub fn with_brief(mut self, brief: impl Into<String>) -> Self {
        self.notes_mut().brief = brief.into();
        self
    }

    /// The contents, in order.
    #[must_use]
    pub fn content(&self) -> &[Content] {
        match &self.content {
            ContentList::One(content) => std::slice::from_ref(content),
            ContentList::Many(list) => list,
        }
    }

    /// The value for the program, if the tool gave one.
    #[must_use]
    pub fn structured(&self) -> Option<&Value> {
        self.notes.as_deref()?.structured.as_ref()
    }

    /// The text that explains the result to the model; often empty.
    #[must_use]
    pub fn message(&self) -> &str {
        self.notes.as_deref().map_or("", |notes| &notes.message)
    }

    /// The short text for the user; often empty.
    #[must_use]
    pub fn brief(&self) -> &str {
        self.notes.as_deref().map_or("", |notes| &notes.brief)
    }

    /// Every content as text, a line break between two. Media are named, not included.
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

    /// How much it is, in bytes: text, and media as they are sent.
    pub(crate) fn bytes(&self) -> usize {
        self.content().iter().map(Content::bytes).sum::<usize>() + self.message().len()
    }

    /// Changes each content, or takes it away.
    fn change_content(&mut self, change: impl FnMut(Content) -> Option<Content>) {
        let contents = match std::mem::take(&mut self.content) {
            ContentList::One(only) => vec![only],
            ContentList::Many(list) => list,
        };
        let mut changed: Vec<Content> = contents.into_iter().filter_map(change).collect();
        self.content = match changed.pop() {
            Some(only) if changed.is_empty() => ContentList::One(only),
            last => {
                changed.extend(last);
                ContentList::Many(changed)
            }
        };
    }

    fn notes_mut(&mut self) -> &mut Notes {
        self.notes.get_or_insert_default()
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<Content> for ToolOutput {
    fn from(content: Content) -> Self {
        Self { content: ContentList::One(content), notes: None }
    }
}

impl From<Media> for ToolOutput {
    fn from(media: Media) -> Self {
        Content::from(media).into()
    }
}
