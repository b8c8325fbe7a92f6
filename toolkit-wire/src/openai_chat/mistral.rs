//! Media items in Mistral's API, which has its own forms for audio and documents.

use super::results::{Contents, messages};
use crate::media::{MediaKind, MediaTable, Urls, address, file_name};
use serde_json::{Value, json};
use toolkit_core::output::{Media, MediaData};

/// The media items that Mistral's API accepts, from its guides to vision, audio and documents. Tool messages contain
/// only text.
const MEDIA: MediaTable = MediaTable { messages: &messages(Urls::Web), results: &[] };

/// The media items that Mistral's API accepts, with the function that encodes them.
pub(crate) const MISTRAL: Contents = Contents { table: &MEDIA, write };

fn write(kind: MediaKind, media: &Media) -> Option<Value> {
    Some(match kind {
        MediaKind::Image => json!({"type": "image_url", "image_url": {"url": address(media)}}),
        // `input_audio` is a string: a URL, or the bytes in Base64.
        MediaKind::Audio => match &media.data {
            MediaData::Base64(data) | MediaData::Url(data) => {
                json!({"type": "input_audio", "input_audio": data})
            }
        },
        MediaKind::File => {
            json!({"type": "document_url", "document_url": address(media), "document_name": file_name(media)})
        }
    })
}
