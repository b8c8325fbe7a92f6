//! The kinds of content in tool output.

use crate::schema::__private::base64;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// One piece of content in the output of a tool.
///
/// ```
/// use toolkit_ai::prelude::*;
/// use toolkit_ai::{Content, Media};
///
/// /// Draw the sales of a month.
/// #[tool]
/// fn chart(month: String) -> Vec<Content> {
///     vec![Content::text(format!("The sales of {month}.")), Media::new("image/png", b"\x89PNG").into()]
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let registry = ToolRegistry::from_tools(tools![chart])?;
/// let output = registry.call("chart", r#"{"month": "May"}"#).await?;
/// assert!(matches!(&output.content()[1], Content::Image(image) if image.media_type == "image/png"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A value written as JSON.
    Json(JsonText),
    /// An image.
    Image(Box<Media>),
    /// Audio.
    Audio(Box<Media>),
    /// A file of another kind.
    File(Box<Media>),
    /// A link to a resource.
    Resource(Box<Resource>),
}

impl Content {
    /// Creates plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the text, or for media and resources a note such as `[image image/png chart.png]`.
    #[must_use]
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(json) => Cow::Borrowed(json.as_str()),
            Self::Image(media) => Cow::Owned(format!("[image {media}]")),
            Self::Audio(media) => Cow::Owned(format!("[audio {media}]")),
            Self::File(media) => Cow::Owned(format!("[file {media}]")),
            Self::Resource(resource) => Cow::Owned(format!("[resource {resource}]")),
        }
    }

    /// Returns the size in bytes, media as their Base64 text or URL.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Json(json) => json.as_str().len(),
            Self::Image(media) | Self::Audio(media) | Self::File(media) => match &media.data {
                MediaData::Base64(data) => data.len(),
                MediaData::Url(url) => url.len(),
            },
            Self::Resource(resource) => resource.uri.len(),
        }
    }
}

/// Well-formed JSON text, serialized from a value.
///
/// ```
/// use toolkit_ai::ToolOutput;
/// use toolkit_ai::output::JsonText;
///
/// let json = JsonText::new(&("Oslo", -3.5))?;
/// assert_eq!(json.as_str(), r#"["Oslo",-3.5]"#);
/// assert_eq!(ToolOutput::from(json).to_text(), r#"["Oslo",-3.5]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(pub(super) String);

impl JsonText {
    /// Writes a value as compact JSON, without escapes for characters beyond ASCII.
    ///
    /// # Errors
    /// The value has no JSON form.
    pub fn new<T: serde::Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self)
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the JSON text, without a copy.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// Parses the JSON text into a value.
    ///
    /// # Errors
    /// The text is nested deeper than 127 levels, the limit of the parser.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        self.0.parse()
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A media item: an image, audio or a file, depending on the media type.
///
/// ```
/// use toolkit_ai::{Content, Media};
///
/// let chart = Media::new("image/png", b"\x89PNG").with_name("chart.png");
/// assert_eq!(Content::from(chart).to_text(), "[image image/png chart.png]");
/// let report = Media::from_url("application/pdf", "https://example.com/report.pdf");
/// assert!(matches!(Content::from(report), Content::File(_)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The bytes, or the URL of the bytes.
    pub data: MediaData,
    /// The file name, if known.
    pub name: Option<String>,
}

impl Media {
    /// Creates a media item from bytes.
    #[must_use]
    pub fn new(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        let data = MediaData::Base64(base64(bytes.as_ref()));
        Self { media_type: media_type.into(), data, name: None }
    }

    /// Creates a media item from a URL, which the provider fetches.
    #[must_use]
    pub fn from_url(media_type: impl Into<String>, url: impl Into<String>) -> Self {
        Self { media_type: media_type.into(), data: MediaData::Url(url.into()), name: None }
    }

    /// Sets the file name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Writes the value as compact JSON.
impl From<Value> for JsonText {
    fn from(value: Value) -> Self {
        Self(value.to_string())
    }
}

impl From<JsonText> for Content {
    fn from(json: JsonText) -> Self {
        Self::Json(json)
    }
}

/// Converts by media type: `image/…`, `audio/…`, or else a file.
impl From<Media> for Content {
    fn from(media: Media) -> Self {
        let kind = media.media_type.split('/').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("image") {
            Self::Image(Box::new(media))
        } else if kind.eq_ignore_ascii_case("audio") {
            Self::Audio(Box::new(media))
        } else {
            Self::File(Box::new(media))
        }
    }
}

/// The bytes of a [`Media`], or the URL of the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaData {
    /// The bytes in standard Base64.
    Base64(String),
    /// The URL of the bytes.
    Url(String),
}

impl fmt::Display for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.media_type)?;
        if let Some(name) = &self.name {
            write!(f, " {name}")?;
        }
        match &self.data {
            MediaData::Base64(_) => Ok(()),
            MediaData::Url(url) => write!(f, " {url}"),
        }
    }
}

/// A link to a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The URI of the resource.
    pub uri: String,
    /// The display name.
    pub name: String,
    /// The media type, if known.
    pub media_type: Option<String>,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.uri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deeply_nested_value_is_never_taken_for_null() {
        let nested = |levels| (0..levels).fold(Value::Bool(true), |inside, _| Value::Array(vec![inside]));
        let fitting = nested(127);
        assert_eq!(JsonText::new(&fitting).unwrap().to_value().unwrap(), fitting);
        assert!(JsonText::new(&nested(200)).unwrap().to_value().is_err());
    }

    #[test]
    fn media_become_content_by_their_type() {
        for (media_type, text) in [
            ("image/png", "[image image/png]"),
            ("IMAGE/svg+xml", "[image IMAGE/svg+xml]"),
            ("audio/wav; codecs=1", "[audio audio/wav; codecs=1]"),
            ("video/mp4", "[file video/mp4]"),
            ("application/image", "[file application/image]"),
            ("", "[file ]"),
        ] {
            assert_eq!(Content::from(Media::new(media_type, b"hi")).to_text(), text);
        }
        let data = Media::new("image/png", [0xfb, 0xff, 0xfe, 0]).data;
        assert_eq!(data, MediaData::Base64("+//+AA==".to_owned()));
    }
}
