//! Writes messages for the next request, and repairs histories so that each result directly follows its call.

use super::{Cohere, FACTS, call};
use crate::apis::openai::function_call;
use crate::call::{Message, OutgoingCall, id};
use crate::codec::{HistoryCodec, RepairCodec};
use crate::fields::{Fields, list, set, text};
use crate::media::{IMAGES, MediaKind, MediaRule, MediaTable, Urls, accepted, address};
use crate::pairing::{Entry, Key, NO_OUTPUT};
use crate::result_rule::ResultRule;
use crate::results::unsendable;
use crate::texts;
use serde_json::{Value, json};
use toolkit_core::output::Content;

/// The media items that the API accepts, from the provider's guide to images. Images in tool results are sent in a user
/// message after the results.
pub(super) const MEDIA: MediaTable = MediaTable {
    messages: &[MediaRule { kind: MediaKind::Image, types: IMAGES, embedded: true, urls: Urls::Web }],
    results: &[],
};

impl HistoryCodec for Cohere {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut fields = call.fields(FACTS.name);
        set(&mut fields, "id", call.id);
        set(&mut fields, "type", "function");
        let arguments = call.arguments.into_text();
        function_call(fields, call.name, crate::history::arguments(&arguments))
    }

    fn write_part(&self, _part: &Value) -> Option<Value> {
        None
    }

    /// Writes a message with all fields received, except empty ones. A message without text and calls is
    /// dropped, because the service refuses it.
    fn write_message(&self, message: &Message<'_>, calls: Vec<Value>) -> Vec<Value> {
        let mut fields = message.fields.cloned().unwrap_or_default();
        set(&mut fields, "role", "assistant");
        set(&mut fields, "tool_calls", calls);
        texts::settle(&mut fields, &["content", "tool_plan"]);
        fields.retain(|_, value| match value {
            Value::Null => false,
            Value::Array(list) => !list.is_empty(),
            Value::String(text) => !text.is_empty(),
            _ => true,
        });
        let is_empty = !["content", "tool_calls"].iter().any(|name| fields.contains_key(*name));
        if is_empty { Vec::new() } else { vec![fields.into()] }
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let fields = Fields::from_iter([("content".to_owned(), text.into())]);
        self.write_message(&Message { fields: Some(&fields), parts: Vec::new(), is_whole: true }, calls)
    }

    /// Encodes a user message. The service accepts images as URLs with `https:` or `data:`, and no other
    /// media items.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let content = match contents {
            [only] if image(only).is_none() => unsendable(only).into(),
            _ => {
                let part = |content| image(content).unwrap_or_else(|| text_part(&unsendable(content)));
                contents.iter().map(part).collect::<Value>()
            }
        };
        json!({"role": "user", "content": content})
    }
}

pub(super) fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Encodes an image as a content part. Returns `None` for other contents and for images that the service does
/// not accept.
pub(super) fn image(content: &Content) -> Option<Value> {
    let (_, media) = accepted(MEDIA.messages, content)?;
    Some(json!({"type": "image_url", "image_url": {"url": address(media)}}))
}

/// Each result directly follows its call.
pub(super) const RESULTS: ResultRule = ResultRule { in_call_order: true, ..ResultRule::PLAIN };

impl RepairCodec for Cohere {
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let by_id = |value| Key::of_id(id(value));
        match text(message, "role") {
            "tool" => vec![(0, Entry::Result(by_id(message.get("tool_call_id")), message))],
            "assistant" => {
                let calls = list(message, "tool_calls").iter().filter(|json| call::is_call(json));
                calls.map(|json| (0, Entry::Call(by_id(json.get("id")), json))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn placeholder(&self, _call: &Value, key: &Key<'_>) -> Value {
        json!({"role": "tool", "tool_call_id": key.id, "content": NO_OUTPUT})
    }
}
