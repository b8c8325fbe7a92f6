//! Writes messages for the next request.

use super::spelling::{get, key};
use super::{FACTS, Gemini, call, results};
use crate::call::{Message, OutgoingCall};
use crate::codec::HistoryCodec;
use crate::fields::{Fields, camel, set};
use crate::texts;
use serde_json::{Value, json};
use toolkit_core::output::Content;

impl HistoryCodec for Gemini {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut part = call::without_result(call.fields(FACTS.name));
        let key = key(&part, "functionCall").unwrap_or("functionCall").to_owned();
        let mut function = match part.get_mut(&key).map(Value::take) {
            Some(Value::Object(function)) => function,
            _ => Fields::new(),
        };
        // The Gemini API refuses `partialArgs` and `willContinue`, which occur only in streams.
        function.retain(|name, _| !matches!(&*camel(name), "partialArgs" | "willContinue" | "id"));
        set(&mut function, "name", call.name.as_str());
        set(&mut function, "args", call.arguments.into_object());
        if let Some(id) = call::sendable_id(&call.id) {
            set(&mut function, "id", id);
        }
        set(&mut part, &key, function);
        part.into()
    }

    fn write_part(&self, part: &Value) -> Option<Value> {
        let mut part = call::without_result(part.as_object().cloned().unwrap_or_default());
        texts::settle(&mut part, &["text"]);
        call::says_something(&part).then(|| part.into())
    }

    /// Writes a message for the next request. A message without parts is dropped, because the service refuses
    /// it.
    fn write_message(&self, message: &Message<'_>, parts: Vec<Value>) -> Vec<Value> {
        if parts.is_empty() {
            return Vec::new();
        }
        let mut fields = message.fields.cloned().unwrap_or_default();
        set(&mut fields, "role", "model");
        set(&mut fields, "parts", parts);
        vec![fields.into()]
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text).filter(|text| !text.is_empty()).map(|text| json!({"text": text}));
        let message = Message { fields: None, parts: Vec::new(), is_whole: true };
        self.write_message(&message, text.into_iter().chain(calls).collect())
    }

    /// Gives the first call of a message a placeholder if it has no signature. From the third generation on,
    /// models refuse such a call, but only they sign calls. The reference defines the placeholder for calls of
    /// other models. The other calls of a message never have signatures.
    fn complete_calls(&self, generation: Option<u32>, calls: &mut [Value]) {
        let is_signed = generation.is_none_or(|number| number >= 3);
        let first = calls.first_mut().and_then(Value::as_object_mut).filter(|_| is_signed);
        if let Some(first) = first.filter(|first| get(first, "thoughtSignature").is_none()) {
            set(first, "thoughtSignature", "skip_thought_signature_validator");
        }
    }

    /// Encodes a user message. The service refuses empty texts and empty messages.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let mut parts: Vec<Value> = contents.iter().map(results::content_part).collect();
        parts.retain(|part| part.get("text").is_none_or(|text| text != ""));
        if parts.is_empty() {
            parts.push(json!({"text": "(empty message)"}));
        }
        json!({"role": "user", "parts": parts})
    }
}
