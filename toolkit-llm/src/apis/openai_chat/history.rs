//! Writes messages for the next request.

use super::response::TEXTS;
use super::results::OPENAI;
use super::{FACTS, OpenAiChat, call};
use crate::call::{Message, OutgoingCall};
use crate::codec::HistoryCodec;
use crate::fields::{Fields, set, text};
use crate::texts;
use serde_json::{Value, json};
use toolkit_core::output::Content;

impl HistoryCodec for OpenAiChat {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut fields = call.fields(FACTS.name);
        let (is_custom, key, text) = call.origin.text(&call.arguments, FACTS.name, "custom");
        let kind = if is_custom { "custom" } else { "function" };
        let mut part = match fields.get_mut(kind).map(Value::take) {
            Some(Value::Object(part)) => part,
            // In the older form, the fields of the function are in the call itself. They are moved into
            // `function`.
            _ => {
                fields.shift_remove("name");
                fields.shift_remove("arguments");
                Fields::new()
            }
        };
        set(&mut part, "name", call.name);
        set(&mut part, key, text);
        if is_custom {
            fields.shift_remove("status");
        }
        call::whole(fields, call.id, kind, part)
    }

    fn write_part(&self, _part: &Value) -> Option<Value> {
        None
    }

    fn write_message(&self, message: &Message<'_>, calls: Vec<Value>) -> Vec<Value> {
        let mut fields = message.fields.cloned().unwrap_or_default();
        set(&mut fields, "role", "assistant");
        texts::settle(&mut fields, &TEXTS);
        // The call in `function_call` was moved to `tool_calls`. Some servers also write `null` here, but
        // services refuse `null` in requests.
        fields.shift_remove("function_call");
        write_audio(&mut fields);
        if calls.is_empty() {
            // In requests, services refuse both an empty list and `null`.
            fields.shift_remove("tool_calls");
            if is_silent(&fields) {
                set(&mut fields, "content", "");
            }
        } else {
            fields.entry("content").or_insert(Value::Null);
            set(&mut fields, "tool_calls", calls);
        }
        vec![Value::Object(fields)]
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let mut fields = Fields::from_iter([("role".to_owned(), "assistant".into())]);
        if !text.is_empty() {
            set(&mut fields, "content", text);
        }
        self.write_message(&Message { fields: Some(&fields), parts: Vec::new(), is_whole: true }, calls)
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        OPENAI.encode_user(contents)
    }
}

/// Reduces the audio of an earlier answer to its id, because the service stores the audio and accepts nothing else.
/// Without an id, the transcript becomes the content of a message that has no text.
fn write_audio(fields: &mut Fields) {
    let Some(audio) = fields.get("audio").filter(|audio| !audio.is_null()) else { return };
    let id = text(audio, "id");
    if !id.is_empty() {
        let id = json!({"id": id});
        set(fields, "audio", id);
        return;
    }
    let transcript = text(audio, "transcript").to_owned();
    fields.shift_remove("audio");
    let content = fields.get("content");
    let has_text = content.is_some_and(|content| !content.is_null() && content.as_str() != Some(""));
    if !has_text && !transcript.is_empty() {
        set(fields, "content", transcript);
    }
}

/// Returns whether a message has no content. A request must contain at least an empty string for a message
/// without calls.
fn is_silent(fields: &Fields) -> bool {
    ["content", "refusal", "audio"].iter().all(|name| fields.get(*name).is_none_or(Value::is_null))
}
