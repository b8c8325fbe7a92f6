//! Writes messages for the next request.

use super::{FACTS, OpenAiResponses, call, client, response, results};
use crate::call::{Message, Origin, OutgoingCall};
use crate::codec::HistoryCodec;
use crate::fields::{Fields, copy, kind, set, text};
use serde_json::{Value, json};
use toolkit_core::output::Content;

impl HistoryCodec for OpenAiResponses {
    /// Writes a call for the next request.
    ///
    /// The service does not require the field `status`, but some compatible servers require it (Volcengine)
    /// or do not recognise calls without it (older vLLM). Calls of custom tools have no `status`.
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let client = match call.origin {
            Origin::Received { json, .. } => json.as_object().and_then(client::of_call),
            Origin::Made(extras) => client::of_extras(extras),
        };
        if let Some(client) = client {
            let mut item = client.write_call(call);
            response::strip_refused(&mut item);
            return item.into();
        }
        let mut item = match call.origin {
            Origin::Received { json, .. } => json.as_object().cloned().unwrap_or_default(),
            Origin::Made(_) => Fields::new(),
        };
        let (is_custom, key, text) = call.origin.text(&call.arguments, FACTS.name, call::CUSTOM);
        set(&mut item, "type", if is_custom { call::CUSTOM } else { call::FUNCTION });
        set(&mut item, "call_id", call.id);
        set(&mut item, "name", call.name);
        set(&mut item, key, text);
        if is_custom {
            item.shift_remove("status");
        }
        if let Origin::Made(extras) = call.origin {
            if !is_custom {
                set(&mut item, "status", "completed");
            }
            copy(extras.of(FACTS.name).unwrap_or(&Fields::new()), &mut item, &call::RETURNED);
        }
        response::strip_refused(&mut item);
        Value::Object(item)
    }

    /// Copies a received item into the next request. An item with neither a type nor a role is dropped,
    /// because no server accepts it.
    fn write_part(&self, item: &Value) -> Option<Value> {
        let item = item.as_object().filter(|item| kind(item).is_some() || item.contains_key("role"));
        let mut item = item?.clone();
        response::strip_refused(&mut item);
        Some(Value::Object(item))
    }

    fn write_message(&self, message: &Message<'_>, mut items: Vec<Value>) -> Vec<Value> {
        // The turn was cut off during reasoning if it ends with a reasoning item. The service refuses such a
        // turn ("without its required following item").
        while message.is_whole && items.last().is_some_and(|item| text(item, "type") == "reasoning") {
            items.pop();
        }
        items
    }

    /// Encodes the text as a message item, followed by the calls. The message item has the short form with
    /// `role` and `content`, because the long form requires an id.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text).filter(|text| !text.is_empty());
        let message = text.map(|text| json!({"type": "message", "role": "assistant", "content": text}));
        message.into_iter().chain(calls).collect()
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        let parts: Vec<Value> = contents.iter().map(results::content_part).collect();
        json!({"type": "message", "role": "user", "content": parts})
    }
}
