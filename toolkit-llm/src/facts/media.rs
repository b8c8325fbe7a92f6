//! Rules for images, audio and files: the items that an API accepts, and forms that several APIs share.

use std::borrow::Cow;
use toolkit_core::output::{Content, Media, MediaData};
use toolkit_schema::SchemaLoss;

#[derive(Debug)]
pub(crate) struct MediaTable {
    pub(crate) messages: &'static [MediaRule],
    /// An item accepted only in messages follows the results in a separate message.
    pub(crate) results: &'static [MediaRule],
}

/// The types and sources of one kind of media items that an API accepts.
#[derive(Debug)]
pub(crate) struct MediaRule {
    pub(crate) kind: MediaKind,
    /// The media types.
    ///
    /// `text/*` stands for all types with the same beginning, and `*+json` for all with the same end. Images
    /// and audio have no `image/` or `audio/`.
    pub(crate) types: &'static [&'static str],
    pub(crate) urls: Urls,
}

/// The kind of a media item, which most APIs encode in a form of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediaKind {
    Image,
    Audio,
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urls {
    None,
    /// URLs from which the service can download: `http` and `https`.
    Web,
    /// Any URL, including `data:` and `gs:` URLs.
    Any,
    /// Only URLs with this beginning.
    Only(&'static str),
}

pub(crate) const IMAGES: &[&str] = &["jpeg", "png", "gif", "webp"];

impl MediaRule {
    pub(crate) fn lists(&self, essence: &str) -> bool {
        let name = match self.kind {
            MediaKind::Image => essence.strip_prefix("image/"),
            MediaKind::Audio => essence.strip_prefix("audio/"),
            MediaKind::File => Some(essence),
        };
        let Some(name) = name else { return false };
        self.types.iter().any(|listed| is_of_type(name, listed))
    }

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
        // With a URL, the media type is often unknown. The service finds it when it downloads the item.
        let is_unknown =
            essence.ends_with("/*") || essence == "application/octet-stream" || essence.is_empty();
        kind == self.kind && has_data && (is_listed || is_unknown)
    }
}

/// Returns whether an entry, which may begin or end with `*`, names the type `name`.
fn is_of_type(name: &str, listed: &str) -> bool {
    match (listed.strip_suffix('*'), listed.strip_prefix('*')) {
        (Some(beginning), _) => name.starts_with(beginning) && name != listed,
        (_, Some(end)) => name.ends_with(end),
        _ => name == listed,
    }
}

/// Returns the media item in `content` with its kind. The media type decides: a file of the type `image/png`
/// is an image.
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

/// Returns the media item in `content` with its kind, if a rule allows it.
pub(crate) fn accepted<'a>(rules: &[MediaRule], content: &'a Content) -> Option<(MediaKind, &'a Media)> {
    let (kind, media) = media_of(content)?;
    let is_allowed = rules.iter().any(|rule| rule.allows(kind, media));
    if is_allowed { Some((kind, media)) } else { None }
}

impl MediaTable {
    /// Returns a loss if `content` is a media item that cannot be sent.
    ///
    /// The item of a result may also follow in a message. `is_readable` returns whether an accepted item has
    /// sendable content.
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

/// Returns the media type in lowercase, without parameters, and by its registered name.
pub(crate) fn canonical(media_type: &str) -> Cow<'_, str> {
    let essence = essence(media_type);
    match &*essence {
        "image/jpg" => Cow::Borrowed("image/jpeg"),
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Cow::Borrowed("audio/wav"),
        "audio/mp3" => Cow::Borrowed("audio/mpeg"),
        _ => essence,
    }
}

/// Returns the URL, a `data:` URL for embedded bytes.
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

/// Returns the embedded bytes in Base64.
pub(crate) fn base64(media: &Media) -> Option<&str> {
    match &media.data {
        MediaData::Base64(data) => Some(data),
        MediaData::Url(_) => None,
    }
}

/// Returns the file name, or a made-up one such as `file.pdf`. The service derives the kind of file from the
/// extension.
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
