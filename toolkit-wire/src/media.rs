//! Pictures, sounds and files in the spellings that several APIs share.

use std::borrow::Cow;
use toolkit_core::output::{Media, MediaData};

/// The address of the bytes, which may be a `data:` address that holds them.
pub(super) fn address(media: &Media) -> Cow<'_, str> {
    match &media.data {
        MediaData::Base64(data) => Cow::Owned(format!("data:{};base64,{data}", media.media_type)),
        MediaData::Url(url) => Cow::Borrowed(url),
    }
}

/// The bytes in Base64, if they are there.
pub(super) fn base64(media: &Media) -> Option<&str> {
    match &media.data {
        MediaData::Base64(data) => Some(data),
        MediaData::Url(_) => None,
    }
}

/// The service tells the kind of a file by its extension, so a nameless one gets one.
pub(super) fn file_name(media: &Media) -> Cow<'_, str> {
    match (&media.name, media.media_type.split_once('/')) {
        (Some(name), _) => Cow::Borrowed(name),
        (None, Some((_, kind))) if kind.chars().all(|c| c.is_ascii_alphanumeric()) => {
            Cow::Owned(format!("file.{kind}"))
        }
        (None, _) => Cow::Borrowed("file"),
    }
}

/// What is at an address; a `data:` address holds the bytes and says their type, for others it is taken
/// to be `otherwise`.
pub(super) fn media(address: &str, otherwise: &str) -> Media {
    let data = address.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    let (media_type, data) = match data {
        Some((media_type, data)) => (media_type, MediaData::Base64(data.to_owned())),
        None => (otherwise, MediaData::Url(address.to_owned())),
    };
    Media { media_type: media_type.to_owned(), data, name: None }
}
