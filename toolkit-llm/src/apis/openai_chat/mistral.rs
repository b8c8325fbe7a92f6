//! Media items in Mistral's API, which has its own forms for audio and documents.

use super::write::messages;
use crate::apis::openai::contents::Contents;
use crate::facts::MistralForm;
use crate::facts::media::{MediaKind, MediaTable, Urls, address, file_name};
use crate::json::fields::text;
use serde_json::{Value, json};
use toolkit_core::output::{Media, MediaData};

/// The accepted media items, from Mistral's guides.
const MEDIA: MediaTable = MediaTable { messages: &messages(Urls::Web), results: &[] };

const CONTENTS: Contents = Contents { table: &MEDIA, write };

pub(super) static FORM: MistralForm = MistralForm {
    media: &MEDIA,
    encode_user: |contents| CONTENTS.encode_user(contents),
    encode_results: |results, ids, names| CONTENTS.encode_results(results, ids, names),
    separate_results,
};

/// Inserts the model's message that Mistral requires between results and a user message.
fn separate_results(history: Vec<Value>) -> Vec<Value> {
    let mut separated: Vec<Value> = Vec::with_capacity(history.len());
    for message in history {
        let is_after_results = separated.last().is_some_and(|last| text(last, "role") == "tool");
        if is_after_results && text(&message, "role") == "user" {
            separated.push(json!({"role": "assistant", "content": "OK."}));
        }
        separated.push(message);
    }
    separated
}

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
