//! Images, audio and files in the forms that several APIs share.

use std::borrow::Cow;
use toolkit_core::output::{Media, MediaData};

/// Returns the URL of the media item. Embedded bytes become a `data:` URL.
pub(super) fn address(media: &Media) -> Cow<'_, str> {
    match &media.data {
        MediaData::Base64(data) => Cow::Owned(format!("data:{};base64,{data}", media.media_type)),
        MediaData::Url(url) => Cow::Borrowed(url),
    }
}

/// Returns the bytes in Base64, if the media item embeds them.
pub(super) fn base64(media: &Media) -> Option<&str> {
    match &media.data {
        MediaData::Base64(data) => Some(data),
        MediaData::Url(_) => None,
    }
}

/// Returns the file name, or a made-up name such as `file.pdf` if there is none. The service derives the kind
/// of file from the extension.
pub(super) fn file_name(media: &Media) -> Cow<'_, str> {
    match (&media.name, media.media_type.split_once('/')) {
        (Some(name), _) => Cow::Borrowed(name),
        (None, Some((_, kind))) if kind.chars().all(|c| c.is_ascii_alphanumeric()) => {
            Cow::Owned(format!("file.{kind}"))
        }
        (None, _) => Cow::Borrowed("file"),
    }
}

/// Creates a media item from a URL. A `data:` URL contains the bytes and the media type. For other URLs, the
/// media type is `otherwise`.
pub(super) fn media(address: &str, otherwise: &str) -> Media {
    let data = address.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    let (media_type, data) = match data {
        Some((media_type, data)) => (media_type, MediaData::Base64(data.to_owned())),
        None => (otherwise, MediaData::Url(address.to_owned())),
    };
    Media { media_type: media_type.to_owned(), data, name: None }
}

/// Returns the media type in lowercase, without its parameters.
pub(super) fn essence(media_type: &str) -> Cow<'_, str> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if essence.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(essence.to_ascii_lowercase());
    }
    Cow::Borrowed(essence)
}
