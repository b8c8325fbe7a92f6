//! Rules for images, audio and files: the media items that an API accepts, and the forms that several APIs
//! share.

use std::borrow::Cow;
use toolkit_core::output::{Content, Media, MediaData};
use toolkit_schema::SchemaLoss;

/// The media items that an API accepts in messages and in tool results.
#[derive(Debug)]
pub(crate) struct MediaTable {
    /// The media items accepted in messages of the user.
    pub(crate) messages: &'static [MediaRule],
    /// The media items accepted in tool results. An item accepted only in messages is sent in a separate
    /// message after the results.
    pub(crate) results: &'static [MediaRule],
}

/// A rule for media items of one kind: the types and sources that an API accepts.
#[derive(Debug)]
pub(crate) struct MediaRule {
    pub(crate) kind: MediaKind,
    /// The media types of files. A type such as `text/*` stands for all types with the same beginning, and a type such
    /// as `*+json` for all types with the same end. For images and audio, the types have no `image/` or `audio/`.
    pub(crate) types: &'static [&'static str],
    pub(crate) urls: Urls,
}

/// The kind of a media item. Most APIs encode each kind in a different form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediaKind {
    Image,
    Audio,
    File,
}

/// The URLs that an API accepts in place of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urls {
    None,
    /// Only URLs from which the service can download: `http` and `https`.
    Web,
    /// Any URL, including `data:` and `gs:` URLs.
    Any,
    /// Only URLs with this beginning.
    Only(&'static str),
}

/// The image types that OpenAI and Anthropic accept.
pub(crate) const IMAGES: &[&str] = &["jpeg", "png", "gif", "webp"];

impl MediaRule {
    /// Returns whether the rule lists the media type `essence`.
    pub(crate) fn lists(&self, essence: &str) -> bool {
        let name = match self.kind {
            MediaKind::Image => essence.strip_prefix("image/"),
            MediaKind::Audio => essence.strip_prefix("audio/"),
            MediaKind::File => Some(essence),
        };
        let Some(name) = name else { return false };
        self.types.iter().any(|listed| is_of_type(name, listed))
    }

    /// Returns whether the rule allows the item `media` of the kind `kind`.
    fn allows(&self, kind: MediaKind, media: &Media) -> bool {
        let essence = canonical(&media.media_type);
        let is_listed = self.lists(&essence);
        let has_data = match &media.data {
            MediaData::Base64(data) => {
                return kind == self.kind && is_listed && !data.is_empty();
            }
            MediaData::Url(url) => match self.urls {
                Urls::None => false,
                Urls::Web => url.starts_with("https://") || url.starts_with("http://"),
                Urls::Any => true,
                Urls::Only(beginning) => url.starts_with(beginning),
            },
        };
        // The media type of an item with a URL is often unknown. The service finds the type when it downloads
        // the item.
        let is_unknown =
            essence.ends_with("/*") || essence == "application/octet-stream" || essence.is_empty();
        kind == self.kind && has_data && (is_listed || is_unknown)
    }
}

/// Returns whether a list's entry names the type `name`. The entry may have a `*` at its end or its beginning.
fn is_of_type(name: &str, listed: &str) -> bool {
    match (listed.strip_suffix('*'), listed.strip_prefix('*')) {
        (Some(beginning), _) => name.starts_with(beginning) && name != listed,
        (_, Some(end)) => name.ends_with(end),
        _ => name == listed,
    }
}

/// Returns the media item in `content`, with the kind of the item. Returns `None` if `content` is not a media
/// item. The kind is determined by the media type: a file of the type `image/png` is an image.
pub(crate) fn media_of(content: &Content) -> Option<(MediaKind, &Media)> {
    let (kind, media) = match content {
        Content::Image(media) => (MediaKind::Image, media),
        Content::Audio(media) => (MediaKind::Audio, media),
        Content::File(media) => (MediaKind::File, media),
        _ => return None,
    };
    let kind = match essence(&media.media_type).split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        Some("text" | "video") => MediaKind::File,
        _ => kind,
    };
    Some((kind, media))
}

/// Returns the media item in `content`, with the kind of the item, if one of the rules allows the item.
pub(crate) fn accepted<'a>(rules: &[MediaRule], content: &'a Content) -> Option<(MediaKind, &'a Media)> {
    let (kind, media) = media_of(content)?;
    let is_allowed = rules.iter().any(|rule| rule.allows(kind, media));
    if is_allowed { Some((kind, media)) } else { None }
}

impl MediaTable {
    /// Returns a loss if `content` is a media item that cannot be sent to the API. `is_result` states whether
    /// the content is in a tool result. The item of a result may also follow in a message.
    ///
    /// `is_readable` returns whether an accepted item has content that can be sent.
    pub(crate) fn loss(
        &self,
        content: &Content,
        is_result: bool,
        path: String,
        is_readable: &dyn Fn(MediaKind, &Media) -> bool,
    ) -> Option<SchemaLoss> {
        let (_, media) = media_of(content)?;
        let mut found = accepted(self.messages, content);
        if found.is_none() && is_result {
            found = accepted(self.results, content);
        }
        if found.is_some_and(|(kind, media)| is_readable(kind, media)) {
            return None;
        }
        let reason = "the API does not accept such media here; the text names the item instead";
        Some(SchemaLoss::new(path, media.media_type.as_str(), reason))
    }
}

/// Returns the media type in lowercase and without parameters. Aliases are replaced by the registered name of
/// the type.
pub(crate) fn canonical(media_type: &str) -> Cow<'_, str> {
    let essence = essence(media_type);
    match &*essence {
        "image/jpg" => Cow::Borrowed("image/jpeg"),
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Cow::Borrowed("audio/wav"),
        "audio/mp3" => Cow::Borrowed("audio/mpeg"),
        _ => essence,
    }
}

/// Returns the URL of the media item. Embedded bytes become a `data:` URL.
pub(crate) fn address(media: &Media) -> Cow<'_, str> {
    let media_type = match &*essence(&media.media_type) {
        "image/jpg" => "image/jpeg",
        _ => media.media_type.as_str(),
    };
    match &media.data {
        MediaData::Base64(data) => Cow::Owned(format!("data:{media_type};base64,{data}")),
        MediaData::Url(url) => Cow::Borrowed(url),
    }
}

/// Returns the bytes in Base64, if the media item embeds them.
pub(crate) fn base64(media: &Media) -> Option<&str> {
    match &media.data {
        MediaData::Base64(data) => Some(data),
        MediaData::Url(_) => None,
    }
}

/// Returns the file name, or a made-up name such as `file.pdf` if there is none. The service derives the kind
/// of file from the extension.
pub(crate) fn file_name(media: &Media) -> Cow<'_, str> {
    match (&media.name, media.media_type.split_once('/')) {
        (Some(name), _) => Cow::Borrowed(name),
        (None, Some((_, kind))) if kind.chars().all(|c| c.is_ascii_alphanumeric()) => {
            Cow::Owned(format!("file.{kind}"))
        }
        (None, _) => Cow::Borrowed("file"),
    }
}

/// Returns the media type in lowercase, without its parameters.
pub(crate) fn essence(media_type: &str) -> Cow<'_, str> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if essence.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(essence.to_ascii_lowercase());
    }
    Cow::Borrowed(essence)
}

#[cfg(test)]
mod tests;
