//! Writes messages for the next request, and repairs histories so that each result directly follows its call.

use super::{FACTS, Ollama, call};
use crate::apis::openai::function_call;
use crate::call::{Message, OutgoingCall, WireCall, id};
use crate::codec::{HistoryCodec, RepairCodec};
use crate::fields::{Fields, list, set, text};
use crate::media::{MediaKind, MediaRule, MediaTable, Urls, accepted, base64};
use crate::pairing::{Entry, Key, NO_OUTPUT};
use crate::result_rule::ResultRule;
use crate::results::unsendable;
use crate::texts;
use serde_json::{Value, json};
use toolkit_core::output::Content;

/// The media items that the server accepts: images in the formats that it decodes. Images in tool results are sent in a
/// user message after the results.
pub(super) const MEDIA: MediaTable = MediaTable {
    messages: &[MediaRule {
        kind: MediaKind::Image,
        types: &["image/jpeg", "image/png", "image/webp"],
        embedded: true,
        urls: Urls::None,
    }],
    results: &[],
};

impl HistoryCodec for Ollama {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut fields = call.fields(FACTS.name);
        match call::sendable_id(&call.id) {
            Some(id) => set(&mut fields, "id", id),
            None => drop(fields.shift_remove("id")),
        }
        function_call(fields, call.name, call.arguments.into_object())
    }

    fn write_part(&self, _part: &Value) -> Option<Value> {
        None
    }

    fn write_message(&self, message: &Message<'_>, calls: Vec<Value>) -> Vec<Value> {
        let mut fields = message.fields.cloned().unwrap_or_default();
        set(&mut fields, "role", "assistant");
        let content = fields.get("content").map(texts::whole).unwrap_or_default().into_owned();
        set(&mut fields, "content", content);
        fields.shift_remove("tool_calls");
        if !calls.is_empty() {
            set(&mut fields, "tool_calls", calls);
        }
        vec![fields.into()]
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let fields =
            Fields::from_iter([("role".to_owned(), "assistant".into()), ("content".to_owned(), text.into())]);
        self.write_message(&Message { fields: Some(&fields), parts: Vec::new(), is_whole: true }, calls)
    }

    /// Encodes a user message. All texts become one string, and the images are in a separate field. The
    /// server accepts neither other media items nor URLs.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let texts = contents.iter().filter(|content| image(content).is_none()).map(unsendable);
        let texts: Vec<_> = texts.collect();
        let images: Vec<&str> = contents.iter().filter_map(image).collect();
        if images.is_empty() {
            json!({"role": "user", "content": texts.join("\n")})
        } else {
            json!({"role": "user", "content": texts.join("\n"), "images": images})
        }
    }
}

/// Returns the bytes of an image in Base64. Returns `None` for contents that the server does not accept as an
/// image.
pub(super) fn image(content: &Content) -> Option<&str> {
    accepted(MEDIA.messages, content).and_then(|(_, media)| base64(media))
}

/// The results are in the order of the calls, because only their order distinguishes results without an id.
pub(super) const RESULTS: ResultRule = ResultRule { in_call_order: true, ..ResultRule::PLAIN };

impl RepairCodec for Ollama {
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        match text(message, "role") {
            "tool" => {
                // If a result has no name, the server finds its call by position.
                let name = Some(text(message, "tool_name")).filter(|name| !name.is_empty());
                vec![(0, Entry::Result(Key { id: id(message.get("tool_call_id")), name }, message))]
            }
            "assistant" => {
                let calls = list(message, "tool_calls").iter().map(|json| (json, call::read(json)));
                let entry = |(json, call): (_, WireCall<'a>)| {
                    (0, Entry::Call(Key { id: call.id, name: Some(call.name) }, json))
                };
                calls.map(entry).collect()
            }
            _ => Vec::new(),
        }
    }

    fn placeholder(&self, _call: &Value, key: &Key<'_>) -> Value {
        message(key.name.unwrap_or_default(), key.id.as_deref(), NO_OUTPUT)
    }
}

/// Creates a `tool` message with a result.
pub(super) fn message(name: &str, id: Option<&str>, content: &str) -> Value {
    let mut message = Fields::from_iter([("role".to_owned(), "tool".into())]);
    if !name.is_empty() {
        set(&mut message, "tool_name", name);
    }
    if let Some(id) = id {
        set(&mut message, "tool_call_id", id);
    }
    set(&mut message, "content", content);
    message.into()
}
